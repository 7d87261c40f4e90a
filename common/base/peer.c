#include "common/base/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

int peer_is_other_user(const struct sockaddr *address, socklen_t length, int port)
{
    const struct sockaddr_in *peer = (const struct sockaddr_in *)address;
    unsigned from_address, from_port, to_port, uid;
    char line[300];
    int is_other = 0;
    if (length < sizeof *peer || peer->sin_family != AF_INET) return 1;
    FILE *sockets = fopen("/proc/self/net/tcp", "re");
    while (sockets && fgets(line, sizeof line, sockets))
        if (sscanf(line, " %*d: %X:%X %*X:%X %*X %*X:%*X %*X:%*X %*X %u", &from_address, &from_port,
                   &to_port, &uid) == 4 &&
            from_address == peer->sin_addr.s_addr && from_port == ntohs(peer->sin_port) &&
            to_port == (unsigned)port)
            is_other = uid && uid != getuid();
    if (sockets) fclose(sockets);
    return is_other;
}
