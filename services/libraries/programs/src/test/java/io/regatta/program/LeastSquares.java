package io.regatta.program;

import io.regatta.data.SlotBatch;

/** Ordinary least squares by the normal equations, the closed form that training is compared with. */
final class LeastSquares {

  private LeastSquares() {}

  /** Weights of the dense features, and the bias last. */
  static double[] fit(SlotBatch data) {
    int n = data.layout().dense() + 1;
    double[][] equations = new double[n][n + 1];
    for (int row = 0; row < data.rows(); row++) {
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          equations[i][j] += feature(data, row, i) * feature(data, row, j);
        }
        equations[i][n] += feature(data, row, i) * data.labels()[row];
      }
    }
    return solve(equations);
  }

  static double meanSquaredError(SlotBatch data, double[] weights) {
    double sum = 0;
    for (int row = 0; row < data.rows(); row++) {
      double error = -data.labels()[row];
      for (int i = 0; i < weights.length; i++) {
        error += weights[i] * feature(data, row, i);
      }
      sum += error * error;
    }
    return sum / data.rows();
  }

  private static double feature(SlotBatch data, int row, int i) {
    int dense = data.layout().dense();
    return i == dense ? 1 : data.dense()[row * dense + i];
  }

  /** Gauss–Jordan elimination with partial pivoting of {@code [n × (n + 1)]}. */
  private static double[] solve(double[][] a) {
    int n = a.length;
    for (int column = 0; column < n; column++) {
      int pivot = column;
      for (int row = column + 1; row < n; row++) {
        pivot = Math.abs(a[row][column]) > Math.abs(a[pivot][column]) ? row : pivot;
      }
      double[] swapped = a[column];
      a[column] = a[pivot];
      a[pivot] = swapped;
      for (int row = 0; row < n; row++) {
        double factor = row == column ? 0 : a[row][column] / a[column][column];
        for (int j = column; j <= n; j++) {
          a[row][j] -= factor * a[column][j];
        }
      }
    }
    double[] solution = new double[n];
    for (int i = 0; i < n; i++) {
      solution[i] = a[i][n] / a[i][i];
    }
    return solution;
  }
}
