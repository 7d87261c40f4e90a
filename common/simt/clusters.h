/* clusters.h - a launch whose blocks come in clusters. */
#ifndef CONVLAB_SIMT_CLUSTERS_H
#define CONVLAB_SIMT_CLUSTERS_H

#include "common/simt/core/core.h"

/* Runs the launch's clusters on `threads` host threads or fewer, each cluster's blocks side by side
 * on one of them.  `worker` has cluster_blocks of them for each thread, all open. */
void clusters_run(Launch *launch, Worker *worker, uint32_t threads);

#endif
