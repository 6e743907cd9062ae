//go:build cgo

#ifndef HELENUS_CBC_H
#define HELENUS_CBC_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int status;     /* Cbc_status, or HELENUS_CBC_MEMORY, HELENUS_CBC_FAULT */
  int secondary;  /* Cbc_secondaryStatus */
  int infeasible; /* Cbc_isProvenInfeasible */
  int unbounded;  /* Cbc_isContinuousUnbounded */
  int solved;     /* values were written */
  int nodes;
  int exhausted;  /* the limit of iterations ended it */
  double bound;
} helenus_cbc_result;

#define HELENUS_CBC_MEMORY (-100)
#define HELENUS_CBC_FAULT (-101)

/* In what manner: problems come reduced, and are solved as they are; without probing, which calls some feasible problems infeasible; with CBC's own preprocessing, where
   solving them as they are ended in an assertion of CLP's; without cuts and heuristics. */
#define HELENUS_CBC_AS_IT_IS 0
#define HELENUS_CBC_PLAIN 1
#define HELENUS_CBC_PREPROCESSED 2
#define HELENUS_CBC_BARE 3

/* Solves one problem, given in compressed columns: column j has the entries start[j] to start[j+1]-1. Not re-entrant: one call at a time in a process. */
void helenus_cbc_solve(int cols, int rows, const int *start, const int *index, const double *value,
                       const double *lower, const double *upper, const double *cost, const char *integer,
                       const double *row_lower, const double *row_upper,
                       const double *incumbent, /* NULL or one value per column */
                       int nodes,               /* 0: no limit */
                       int iterations,          /* of the simplex method, over all nodes; 0: no limit */
                       double gap,
                       double step,             /* what costs no more than that less than the best so far is not looked for */
                       int manner, /* HELENUS_CBC_AS_IT_IS, ... */
                       double *values, helenus_cbc_result *result);

/* stop 1, from any thread: the running solve, or the next, comes back with what it has. stop 0 takes that back. */
void helenus_cbc_stop(int stop);

/* From any thread: the cost and bound that the running solve has come to, by its own account, and its nodes; -1 if there is nothing yet. */
int helenus_cbc_seen(double *cost, double *bound);

#ifdef __cplusplus
}
#endif
#endif
