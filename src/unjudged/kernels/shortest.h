/* A number as the shortest text that reads back as the same number: the text of Python's repr. */
#ifndef UNJUDGED_SHORTEST_H
#define UNJUDGED_SHORTEST_H

#include "kernels.h"

#define LONGEST_NUMBER 32         /* bytes a number can take, such as -2.2250738585072014e-308 */

/* Writes the number and returns its length; 0 with an exception set if there is no memory. */
size_t write_shortest(double value, char *out);

#endif
