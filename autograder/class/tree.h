/* tree.h - removal of a folder with its contents. */
#ifndef CONVLAB_AUTOGRADER_CLASS_TREE_H
#define CONVLAB_AUTOGRADER_CLASS_TREE_H

/* Removes it without following links; a missing folder is no error.  -1 with errno. */
int tree_remove(const char *path);

#endif
