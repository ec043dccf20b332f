package io.regatta.load.dense;

import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The results of the dense driver. Immutable by convention. */
public final class DenseResult {

  static final String IPERF3 = "iperf3";
  static final String OPENMPI = "openmpi";

  /** @param chunk bytes; 0 for a kind without chunks */
  record Key(String kind, int chunk, String operation) {
    Key operation(String of) {
      return new Key(kind, chunk, of);
    }
  }

  /**
   * A required ratio.
   *
   * @param figure GB/s, or CPU seconds per GB of both ends
   * @param wanted as in the README
   */
  private record Demand(String kind, String peer, String label, ToDoubleFunction<Sample> figure, String wanted) {}

  private static final ToDoubleFunction<Sample> RATE = Sample::rate;
  private static final ToDoubleFunction<Sample> CPU = Sample::cpu;
  private static final List<Demand> DEMANDS = List.of(
      new Demand(Peers.REGATTA, Peers.GRPC_JAVA, "GB/s", RATE, "≥ 2.5"),
      new Demand(Peers.REGATTA, IPERF3, "GB/s", RATE, "≥ 0.6"),
      new Demand(Peers.REGATTA, OPENMPI, "GB/s", RATE, ""),
      new Demand(Peers.REGATTA, Peers.NETSOCKET, "GB/s", RATE, "≥ 1.2"),
      new Demand(Peers.REGATTA, Peers.NETTY, "CPU s/GB", CPU, "≤ 1.3"),
      new Demand(Peers.REGATTA, Peers.NETTY, "GB/s", RATE, ""),
      new Demand(Peers.REGATTA, Peers.LINK, "GB/s", RATE, ""),
      new Demand(Peers.REGATTA, Peers.LINK, "CPU s/GB", CPU, ""),
      new Demand(Peers.SHARED, Peers.GRPC_JAVA, "GB/s", RATE, ""),
      new Demand(Peers.SHARED, OPENMPI, "GB/s", RATE, ""),
      new Demand(Peers.SHARED, Peers.NETTY, "CPU s/GB", CPU, ""),
      new Demand(Peers.SHARED, Peers.REGATTA, "GB/s", RATE, ""),
      new Demand(Peers.SHARED, Peers.REGATTA, "CPU s/GB", CPU, ""),
      new Demand(Peers.TLS, Peers.REGATTA, "GB/s", RATE, ""),
      new Demand(Peers.TLS, Peers.REGATTA, "CPU s/GB", CPU, ""),
      new Demand(Peers.HANDOVER, Peers.REGATTA, "GB/s", RATE, "≥ 1.5"),
      new Demand(Peers.HANDOVER, Peers.REGATTA, "CPU s/GB", CPU, "≤ 0.5"),
      new Demand(Peers.HANDOVER, Peers.MEMCPY, "GB/s", RATE, ""));

  private final int elements;
  private final List<Integer> chunks;
  private final Map<Key, List<Sample>> samples;

  DenseResult(int elements, List<Integer> chunks, Map<Key, List<Sample>> samples) {
    this.elements = elements;
    this.chunks = chunks;
    this.samples = samples;
  }

  /** Returns the kinds that were measured. */
  List<String> kinds() {
    return samples.keySet().stream().map(Key::kind).distinct().toList();
  }

  List<Sample> samples(String kind, int chunk, String operation) {
    List<Sample> found = samples.get(new Key(kind, chunk, operation));
    return found != null ? found : samples.getOrDefault(new Key(kind, 0, operation), List.of());
  }

  /** Returns two tables: results and ratios. */
  public String markdown() {
    Table figures = new Table("kind", "chunk", "push GB/s", "push CPU s/GB, client + server", "pull GB/s",
        "pull CPU s/GB, client + server");
    for (String kind : kinds()) {
      for (int chunk : samples.keySet().stream().filter(k -> k.kind.equals(kind)).map(Key::chunk).distinct().toList()) {
        List<Object> row = new ArrayList<>(List.of(kind, size(chunk)));
        for (String operation : Contestant.OPERATIONS) {
          List<Sample> s = samples(kind, chunk, operation);
          row.add(Medians.of(s, Sample::rate));
          row.add(Medians.cpu(s));
        }
        figures.row(row.toArray());
      }
    }
    for (String program : List.of(IPERF3, OPENMPI)) {
      if (!kinds().contains(program)) {
        figures.row(program, "–", "not present", "–", "not present", "–");
      }
    }
    Table ratios = new Table("ratio of", "to", "figure", "chunk", "push", "pull", "wanted");
    for (Demand d : DEMANDS) {
      for (int chunk : chunks) {
        ratios.row(d.kind, d.peer, d.label, size(chunk), ratio(d, chunk, "push"), ratio(d, chunk, "pull"), d.wanted);
      }
    }
    return "## dense: " + elements * 4L / 1_000_000 + " MB, push with SGD and pull\n\n" + figures + "\n" + ratios;
  }

  private double ratio(Demand d, int chunk, String operation) {
    return Medians.ratio(samples(d.kind, chunk, operation), samples(d.peer, chunk, operation), d.figure);
  }

  private static String size(int chunk) {
    return chunk == 0 ? "–" : chunk % (1 << 20) == 0 ? (chunk >> 20) + " MB" : chunk + " B";
  }

  /** Returns all raw values; units are GB. */
  public JsonObject json() {
    JsonArray all = new JsonArray();
    samples.forEach((key, values) -> all.add(new JsonObject().put("kind", key.kind).put("chunk_bytes", key.chunk)
        .put("operation", key.operation).put("samples", Medians.raw(values))));
    JsonArray ratios = new JsonArray();
    for (Demand d : DEMANDS) {
      for (int chunk : chunks) {
        for (String operation : Contestant.OPERATIONS) {
          double ratio = ratio(d, chunk, operation);
          ratios.add(new JsonObject().put("kind", d.kind).put("peer", d.peer).put("figure", d.label)
              .put("chunk_bytes", chunk).put("operation", operation).put("wanted", d.wanted)
              .put("ratio", Double.isNaN(ratio) ? null : ratio));
        }
      }
    }
    return new JsonObject().put("unit", "GB").put("elements", elements).put("measured", all).put("ratios", ratios);
  }
}
