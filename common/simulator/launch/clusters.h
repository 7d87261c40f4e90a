/* clusters.h - a launch whose blocks come in clusters. */
#ifndef CONVLAB_SIMT_CLUSTERS_H
#define CONVLAB_SIMT_CLUSTERS_H

#include "common/simulator/core/core.h"

/* Runs the launch's clusters until none is left, each cluster's blocks side by side on this thread.
 * `worker` are cluster_blocks of them, all open. */
void clusters_run(Launch *launch, Worker *worker);

#endif
