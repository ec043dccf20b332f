package io.regatta.load.train;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.load.run.Secured;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The driver of the cost of the ports' protection, in training of CTR-DNN over TCP at an address that other machines
 * reach. The kinds are no token, a token, which is proved because there is no TLS, and a token and mutual TLS. Each
 * kind is a process that stays up. Rounds run the kinds forwards and backwards in turn.
 */
public final class DoorsDriver {
  private static final double MILLION = 1e6;
  /** Least required ratio of the rate with a token to that without. */
  private static final double WANTED = 0.98;
  private static final int BATCH = 1000;
  private static final String OPEN = "node.security.open, no token";
  private static final String TOKEN = "token";
  private static final String TLS = "token and mutual TLS";
  static final List<String> KINDS = List.of(OPEN, TOKEN, TLS);

  private DoorsDriver() {}

  /** Returns the task of a worker of this driver. */
  public static Task task(JsonObject setup) throws IOException {
    String host = setup.getString("host");
    return new ProgramRun(switch (setup.getString("kind")) {
      case OPEN -> Secured.open(host);
      case TOKEN -> Secured.locked(host, null);
      default -> Secured.locked(host, Secured.directory());
    }, setup);
  }

  /**
   * Results of all kinds.
   *
   * @param shortfall says that training with a token is slower than wanted; empty: it is not
   */
  public record Result(String markdown, JsonObject json, String shortfall) {}

  /** Measures, with a number of examples in a round. One percent needs four times the rounds of other drivers. */
  public static Result run(Scale scale, int examples) throws IOException {
    String host = address();
    Path data = Files.createTempDirectory("regatta-load-doors");
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    try {
      JsonObject command = new JsonObject().put("do", "train").put("examples", examples);
      for (String kind : KINDS) {
        WorkerPair pair = WorkerPair.start(new JsonObject().put("driver", "doors").put("kind", kind).put("host", host)
            .put("data", data.toString()).put("examples", examples).put("batch", BATCH), true);
        pairs.put(kind, pair);
        samples.put(kind, new ArrayList<>());
        pair.warmUp(command, scale);
      }
      for (int round = 0; round < scale.rounds(); round++) {
        List<String> order = new ArrayList<>(KINDS);
        if (round % 2 == 1) {
          Collections.reverse(order);
        }
        for (String kind : order) {
          JsonObject told = pairs.get(kind).ask(command);
          samples.get(kind).add(new Sample(told.getLong("examples") / MILLION, told.getDouble("train_seconds"),
              told.getDouble("cpu"), 0));
        }
      }
    } finally {
      pairs.values().forEach(WorkerPair::close);
      TrainDriver.delete(data);
    }
    return result(host, examples, samples);
  }

  /** Returns an address of this machine beyond loopback, where a service needs a token or says that it is open. */
  private static String address() throws IOException {
    return NetworkInterface.networkInterfaces().flatMap(card -> card.getInterfaceAddresses().stream())
        .map(InterfaceAddress::getAddress).filter(at -> at instanceof Inet4Address && !at.isLoopbackAddress())
        .findFirst().orElseThrow(() -> new InvalidInput("doors needs an IPv4 address of this machine beyond loopback"))
        .getHostAddress();
  }

  static Result result(String host, int examples, Map<String, List<Sample>> samples) {
    List<Sample> open = samples.get(OPEN);
    Table table = new Table("kind", "examples/s", "quartiles", "of the rate without", "quartiles", "wanted",
        "CPU s per million examples", "of those without", "quartiles");
    samples.forEach((kind, of) -> table.row(kind, Medians.of(of, Sample::rate) * MILLION,
        quartiles(of.stream().mapToDouble(s -> s.rate() * MILLION).toArray()),
        Medians.ratio(of, open, Sample::rate), quartiles(ratios(of, open, Sample::rate)),
        kind.equals(TOKEN) ? "≥ " + WANTED : "", Medians.of(of, Sample::cpu), Medians.ratio(of, open, Sample::cpu),
        quartiles(ratios(of, open, Sample::cpu))));
    JsonArray raw = new JsonArray();
    samples.forEach((kind, of) -> raw.add(new JsonObject().put("kind", kind).put("samples", Medians.raw(of))));
    double ratio = Medians.ratio(samples.get(TOKEN), open, Sample::rate);
    String shortfall = ratio >= WANTED ? "" : "training with a token has " + Table.number(ratio) + " of the rate "
        + "without (median; quartiles " + quartiles(ratios(samples.get(TOKEN), open, Sample::rate)) + "), and " + WANTED
        + " is wanted: measure again on a quiet machine, or look at what a call costs with the token";
    return new Result("## doors: CTR-DNN, " + examples + " examples in batches of " + BATCH + ", async, over TCP at "
        + host + ", " + open.size() + " rounds\n\n" + table, new JsonObject().put("unit", "million examples")
            .put("token_to_open", ratio).put("measured", raw), shortfall);
  }

  private static double[] ratios(List<Sample> one, List<Sample> other, ToDoubleFunction<Sample> figure) {
    return IntStream.range(0, one.size())
        .mapToDouble(i -> figure.applyAsDouble(one.get(i)) / figure.applyAsDouble(other.get(i))).toArray();
  }

  private static String quartiles(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return Table.number(sorted[(sorted.length - 1) / 4]) + " to "
        + Table.number(sorted[sorted.length - 1 - (sorted.length - 1) / 4]);
  }
}
