//go:build cgo

// The part of the binding that must be C++: CBC's C interface cannot be stopped (its callback returns nothing), and its
// exceptions must not reach Go. Everything else goes through the C interface.

#include <atomic>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcSolver.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#define CBC_EXTERN_C // shows the members of Cbc_Model
#include <coin/Coin_C_defines.h>
#include <coin/Cbc_C_Interface.h>

#include "cbc.h"

static_assert(sizeof(CoinBigIndex) == sizeof(int), "COIN-OR built with wide indices: the arrays of cbc.go must be wider");

namespace {

std::atomic<bool> stop_asked(false);
std::atomic<double> seen_cost(0), seen_bound(0);
std::atomic<int> seen_nodes(-1);
int most_iterations = 0; // of the running solve
bool exhausted = false;

class StopHandler : public CbcEventHandler {
public:
  StopHandler() : CbcEventHandler() {}
  StopHandler(const StopHandler &o) : CbcEventHandler(o) {}
  CbcEventHandler *clone() const { return new StopHandler(*this); }
  CbcAction event(CbcEvent) {
    const CbcModel *m = getModel();
    if (m && !m->parentModel()) { // sub-models have bounds of their own
      seen_cost.store(m->getObjValue(), std::memory_order_relaxed);
      seen_bound.store(m->getBestPossibleObjValue(), std::memory_order_relaxed);
      seen_nodes.store(m->getNodeCount(), std::memory_order_relaxed);
      if (most_iterations > 0 && m->getIterationCount() >= most_iterations) {
        exhausted = true;
        return CbcEventHandler::stop;
      }
    }
    return stop_asked.load(std::memory_order_relaxed) ? CbcEventHandler::stop : noAction;
  }
};

void run(Cbc_Model *m, int cols, int rows, const int *start, const int *index, const double *value,
         const double *lower, const double *upper, const double *cost, const char *integer,
         const double *row_lower, const double *row_upper, const double *incumbent, int nodes, int iterations, double gap, double step, int manner,
         double *values, helenus_cbc_result *result) {
  Cbc_loadProblem(m, cols, rows, start, index, value, lower, upper, cost, row_lower, row_upper);
  std::vector<int> chosen;
  std::vector<double> chosen_values;
  char text[64];
  for (int j = 0; j < cols; j++) {
    snprintf(text, sizeof text, "c%d", j); // a MIP start is matched by name
    Cbc_setColName(m, j, text);
    if (!integer[j])
      continue;
    Cbc_setInteger(m, j);
    if (incumbent) {
      chosen.push_back(j);
      chosen_values.push_back(incumbent[j]);
    }
  }
  for (int i = 0; i < rows; i++) { // CLP's presolve reads past the end of row names where only columns have names
    snprintf(text, sizeof text, "r%d", i);
    Cbc_setRowName(m, i, text);
  }
  Cbc_setLogLevel(m, 0);
  Cbc_setParameter(m, "log", "0");
  Cbc_setParameter(m, "timeMode", "elapsed");
  if (nodes > 0) {
    snprintf(text, sizeof text, "%d", nodes);
    Cbc_setParameter(m, "maxNodes", text);
  }
  snprintf(text, sizeof text, "%.17g", gap);
  Cbc_setParameter(m, "ratioGap", text);
  // Ours come reduced: preprocessing took half of the time of TPC-H's designs, and proved fewer of them. Going deep first, and to the side that leaves a table out,
  // takes three quarters of what is left.
  Cbc_setParameter(m, "preprocess", manner == HELENUS_CBC_PREPROCESSED ? "on" : "off");
  Cbc_setParameter(m, "nodeStrategy", "downDepth");
  if (manner == HELENUS_CBC_PLAIN) {
    Cbc_setParameter(m, "probingCuts", "off");
  }
  if (manner == HELENUS_CBC_BARE) {
    Cbc_setParameter(m, "cuts", "off");
    Cbc_setParameter(m, "heuristicsOnOff", "off");
  }
  if (step > 0) {
    snprintf(text, sizeof text, "%.17g", step);
    Cbc_setParameter(m, "increment", text);
  }
  if (!chosen.empty())
    Cbc_setMIPStartI(m, (int)chosen.size(), chosen.data(), chosen_values.data());
  most_iterations = iterations;
  exhausted = false;
  StopHandler handler;
  m->model_->passInEventHandler(&handler);

  Cbc_solve(m);

  result->status = Cbc_status(m);
  result->secondary = Cbc_secondaryStatus(m);
  result->infeasible = Cbc_isProvenInfeasible(m);
  result->unbounded = Cbc_isContinuousUnbounded(m);
  result->nodes = Cbc_getNodeCount(m);
  result->exhausted = exhausted;
  result->bound = Cbc_getBestPossibleObjValue(m);
  const double *best = Cbc_bestSolution(m);
  if (best && Cbc_getNumCols(m) == cols) {
    result->solved = 1;
    for (int j = 0; j < cols; j++)
      values[j] = best[j];
  }
}

} // namespace

extern "C" void helenus_cbc_solve(int cols, int rows, const int *start, const int *index, const double *value,
                                  const double *lower, const double *upper, const double *cost, const char *integer,
                                  const double *row_lower, const double *row_upper, const double *incumbent,
                                  int nodes, int iterations, double gap, double step, int manner, double *values,
                                  helenus_cbc_result *result) {
  *result = helenus_cbc_result();
  seen_nodes.store(-1);
  Cbc_Model *m = nullptr;
  try {
    m = Cbc_newModel();
    run(m, cols, rows, start, index, value, lower, upper, cost, integer, row_lower, row_upper, incumbent, nodes, iterations,
        gap, step, manner, values, result);
  } catch (const std::bad_alloc &) {
    result->status = HELENUS_CBC_MEMORY;
  } catch (...) {
    result->status = HELENUS_CBC_FAULT;
  }
  try {
    if (m)
      Cbc_deleteModel(m);
  } catch (...) { // nothing to be done: the process ends soon
  }
}

extern "C" void helenus_cbc_stop(int stop) { stop_asked.store(stop != 0); }

extern "C" int helenus_cbc_seen(double *cost, double *bound) {
  *cost = seen_cost.load(std::memory_order_relaxed);
  *bound = seen_bound.load(std::memory_order_relaxed);
  return seen_nodes.load(std::memory_order_relaxed);
}
