/* peer.h - the user at the other end of a TCP connection on this machine. */
#ifndef CONVLAB_BASE_PEER_H
#define CONVLAB_BASE_PEER_H

#include <sys/socket.h>

/* Whether another user's process has connected from `address` to `port` of 127.0.0.1.  Root is
 * none: it forwards ports of containers.  Linux lists the owner of each local socket.  If the list
 * cannot be read, the answer is no. */
int peer_is_other_user(const struct sockaddr *address, socklen_t length, int port);

#endif
