/* tree.h - a folder with all that is in it. */
#ifndef CONVLAB_AUTOGRADER_CLASS_TREE_H
#define CONVLAB_AUTOGRADER_CLASS_TREE_H

/* Removes it, following no link; one that is not there is removed already.  -1 with errno. */
int tree_remove(const char *path);

#endif
