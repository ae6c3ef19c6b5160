/* Scores as decimal numbers, correctly rounded whatever the locale. */
#ifndef UNJUDGED_NUMBER_H
#define UNJUDGED_NUMBER_H

#include "kernels.h"

enum { SCORE_OK = 0, SCORE_BAD = 1, SCORE_NAN = 2 };

/* A decimal number: sign, digits, point, exponent; or inf / infinity. Correctly rounded. */
int parse_score(const char *s, size_t n, double *out);

#endif
