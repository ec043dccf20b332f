package io.regatta.load.process;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** Medians over the rounds of a run, and ratios of two kinds measured in the same rounds. Stateless. */
public final class Medians {

  private Medians() {}

  /** Returns the middle value, or the mean of the two in the middle; NaN of none. */
  public static double of(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

  /** Returns the median of one figure of all samples. */
  public static double of(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return of(samples.stream().mapToDouble(figure).toArray());
  }

  /** Returns the median over the rounds of one's figure divided by the other's in the same round. */
  public static double ratio(List<Sample> one, List<Sample> other, ToDoubleFunction<Sample> figure) {
    return of(IntStream.range(0, Math.min(one.size(), other.size()))
        .mapToDouble(i -> figure.applyAsDouble(one.get(i)) / figure.applyAsDouble(other.get(i))).toArray());
  }

  /** Returns the medians of CPU seconds per unit, "client + server"; a dash of none. */
  public static String cpu(List<Sample> samples) {
    return samples.isEmpty() ? Table.number(Double.NaN)
        : Table.number(of(samples, s -> s.clientCpu() / s.units())) + " + "
            + Table.number(of(samples, s -> s.serverCpu() / s.units()));
  }

  /** Returns all raw values. */
  public static JsonArray raw(List<Sample> samples) {
    JsonArray all = new JsonArray();
    samples.forEach(s -> all.add(new JsonObject().put("units", s.units()).put("seconds", s.seconds())
        .put("client_cpu_seconds", s.clientCpu()).put("server_cpu_seconds", s.serverCpu())));
    return all;
  }
}
