package io.regatta.load;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.load.collective.AllReduceDriver;
import io.regatta.load.collective.AllReduceResult;
import io.regatta.load.dense.DenseDriver;
import io.regatta.load.dense.DenseResult;
import io.regatta.load.dense.SweepDriver;
import io.regatta.load.features.FeaturesDriver;
import io.regatta.load.ingest.IngestDriver;
import io.regatta.load.modes.ModesDriver;
import io.regatta.load.process.Machine;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.load.serve.ServeDriver;
import io.regatta.load.small.SmallDriver;
import io.regatta.load.sparse.SparseDriver;
import io.regatta.load.sparse.SparseResult;
import io.regatta.load.stall.StallDriver;
import io.regatta.load.train.DoorsDriver;
import io.regatta.load.train.TrainDriver;
import io.regatta.node.process.ServiceLogging;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The coordinator of the drivers: runs them one after another, each with processes of its own. One thread. */
@Command(name = "drivers", mixinStandardHelpOptions = true, sortOptions = false,
    description = "Measures Regatta and its peers side by side; Markdown on standard output.")
final class Drivers implements Callable<Integer> {

  private static final List<String> ALL = List.of("dense", "small", "sparse", "train", "ingest", "stall");
  private static final String SWEEP = "sweep";
  private static final String MODES = "modes";
  private static final String ALL_REDUCE = "allreduce";
  private static final String REFIT = "refit";
  private static final String DOORS = "doors";
  private static final String FEATURES = "features";
  private static final String SERVE = "serve";
  /** Drivers that run only if they are named. */
  private static final List<String> NAMED = List.of(SWEEP, MODES, ALL_REDUCE, REFIT, DOORS, FEATURES, SERVE);
  private static final int TENSOR_ELEMENTS = 16_000_000;
  private static final int ROUND_TRIPS = 10_000;
  private static final int EXAMPLES = 100_000;
  private static final long STALL_MILLIS = 10_000;
  private static final List<Integer> TABLE_ROWS = List.of(100_000, 10_000_000);
  private static final List<Integer> CHUNKS = List.of(1 << 20, 4 << 20);

  @Parameters(paramLabel = "DRIVER", description = "dense, small, sparse, train, ingest, stall: all of these if none is "
      + "named; sweep, modes, allreduce, refit, doors, features, serve")
  private List<String> drivers = List.of();

  @Option(names = "--quick", description = "shorter measurements: all drivers in less than five minutes")
  private boolean quick;

  @Option(names = "--json", paramLabel = "FILE", description = "write all raw values to this file")
  private Path json;

  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec;

  /**
   * Runs the command; returns the exit status: 2 for a bad command line, 1 for a run that failed or missed its target.
   */
  static int execute(String... args) {
    ServiceLogging.use();
    return new CommandLine(new Drivers()).setExecutionExceptionHandler((e, line, result) -> {
      line.getErr().println("drivers: " + e.getMessage());
      return e instanceof InvalidInput ? 2 : 1;
    }).execute(args);
  }

  /** Returns the work of a driver's worker process. */
  static Task task(JsonObject setup) throws Exception {
    return switch (setup.getString("driver")) {
      case "dense" -> DenseDriver.task(setup);
      case "small" -> SmallDriver.task(setup);
      case "sparse" -> SparseDriver.task(setup);
      case "ingest" -> IngestDriver.task(setup);
      case "stall" -> StallDriver.task(setup);
      case "train" -> TrainDriver.task(setup);
      case DOORS -> DoorsDriver.task(setup);
      case FEATURES -> FeaturesDriver.task(setup);
      case ALL_REDUCE -> AllReduceDriver.task(setup);
      case SERVE -> ServeDriver.task(setup);
      default -> throw new InvalidInput("there is no driver '" + setup.getString("driver") + "'; there are " + ALL);
    };
  }

  @Override
  public Integer call() throws IOException {
    List<String> wanted = drivers.isEmpty() ? ALL : drivers;
    for (String driver : wanted) {
      if (!ALL.contains(driver) && !NAMED.contains(driver)) {
        throw new CommandLine.ParameterException(spec.commandLine(), "there is no driver '" + driver + "'; there are "
            + ALL + " and " + NAMED);
      }
    }
    Scale scale = quick ? Scale.QUICK : Scale.FULL;
    PrintWriter out = spec.commandLine().getOut();
    JsonObject results = new JsonObject();
    String shortfall = "";
    double loadBefore = Machine.load();
    out.println(Machine.describe() + "; medians of " + scale.rounds() + " interleaved rounds"
        + (quick ? ", quick\n" : "\n"));
    for (String driver : wanted) {
      switch (driver) {
        case "dense" -> {
          DenseResult result = DenseDriver.run(scale, TENSOR_ELEMENTS, CHUNKS, DenseDriver.kinds());
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case "small" -> {
          SmallDriver.Result result = SmallDriver.run(scale, quick ? ROUND_TRIPS / 5 : ROUND_TRIPS);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case "sparse" -> {
          SparseResult result = SparseDriver.run(scale, TABLE_ROWS);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case "train" -> {
          TrainDriver.Result result = TrainDriver.run(scale, quick ? EXAMPLES / 5 : EXAMPLES);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case "ingest" -> {
          IngestDriver.Result result = IngestDriver.run(scale, quick ? EXAMPLES / 5 : EXAMPLES);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case FEATURES -> {
          FeaturesDriver.Result result = FeaturesDriver.run(scale, quick ? EXAMPLES / 5 : EXAMPLES, Path.of(System.getProperty("java.io.tmpdir"),
              "regatta-features-venv"));
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case "stall" -> {
          StallDriver.Result result = StallDriver.run(TENSOR_ELEMENTS, StreamOptions.defaults().initialWindowBytes(),
              quick ? STALL_MILLIS / 5 : STALL_MILLIS);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case SWEEP -> {
          SweepDriver.Result result = SweepDriver.run(scale, TENSOR_ELEMENTS);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case ALL_REDUCE -> {
          AllReduceResult result = AllReduceDriver.run(scale, AllReduceDriver.SIZES, List.of(2, 4));
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case REFIT -> out.println(AllReduceDriver.refit(scale, AllReduceDriver.SIZES, List.of(2, 4)));
        case DOORS -> {
          DoorsDriver.Result result = DoorsDriver.run(new Scale(4 * scale.rounds(), scale.warmUpLimitSeconds(),
              scale.blockSeconds()), quick ? EXAMPLES / 5 : EXAMPLES / 2);
          out.println(result.markdown());
          results.put(driver, result.json());
          shortfall = result.shortfall();
        }
        case SERVE -> {
          ServeDriver.Result result = ServeDriver.run(scale);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        case MODES -> {
          ModesDriver.Result result = ModesDriver.run(quick ? ModesDriver.Size.QUICK : ModesDriver.Size.FULL);
          out.println(result.markdown());
          results.put(driver, result.json());
        }
        default -> throw new IllegalStateException(driver);
      }
    }
    out.println("Load at the end: " + Table.number(Machine.load()));
    if (json != null) {
      Files.writeString(json, Machine.json().put("load_before", loadBefore).put("load_after", Machine.load())
          .put("rounds", scale.rounds()).put("quick", quick).put("drivers", results).encodePrettily() + "\n");
    }
    if (!shortfall.isEmpty()) {
      spec.commandLine().getErr().println("drivers: " + shortfall);
      return 1;
    }
    return 0;
  }
}
