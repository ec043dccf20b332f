package io.regatta.node;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.BadArguments;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.node.process.ServiceLogging;
import io.regatta.node.settings.EffectiveConfig;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The main of every service jar. It reads the configuration, starts a {@link Node}, deploys the service's verticle and
 * prints one line beginning with {@code ready}. It closes everything in order on SIGTERM, on Ctrl-C, or when a
 * {@link FiniteService} has finished. Owned by the main thread, which waits and closes; the shutdown hook asks it to.
 *
 * <p>The configuration's root has the section {@code node} ({@link NodeConfig}) and one named after the service
 * ({@code parameter_server} for {@code parameter-server}). Sections of other services are ignored, so that services can
 * share a file. Exit status: 0 done, 1 failed, 2 bad input; after a signal the JVM's (130, 143), or 1 if not everything
 * was closed.
 */
public final class ServiceMain<R extends Record> {

  static {
    ServiceLogging.use(); // before the first logger
  }

  /** Services that can work alone. Other processes find a rendezvous, and a predictor needs a model only. */
  private static final Set<String> ALONE = Set.of(Directory.RENDEZVOUS, Directory.PREDICTOR);
  private static final List<Shorthand> COMMON = List.of(
      new Shorthand("--seeds", "HOST:PORT,...", "node.cluster.seeds", "Hazelcast members to join through"),
      new Shorthand("--ready-timeout", "SECONDS", "node.ready_timeout_seconds", "how long to wait for other services"));
  private static final Logger LOG = LoggerFactory.getLogger(ServiceMain.class);

  @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
  private static final class Options {
    @Option(names = {"-conf", "--conf"}, paramLabel = "FILE", description = "configuration: .json, .yaml or .yml")
    Path conf;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "overrides one key, e.g. node.admin.port=9000")
    List<String> overrides = new ArrayList<>();

    @Option(names = "--show-config", description = "prints every key with its value and source, and ends")
    boolean showConfig;
  }

  /**
   * An option of one service that stands for a key.
   *
   * @param option e.g. {@code --result}
   * @param label of its value, e.g. {@code FILE}
   * @param key e.g. {@code trainer.result}
   */
  public record Shorthand(String option, String label, String key, String description) {

    private OptionSpec spec() {
      return OptionSpec.builder(option).paramLabel(label).type(String.class)
          .description(description + "; short for --set " + key + "=" + label).build();
    }
  }

  /**
   * The names of a service.
   *
   * @param service its name in the directory, e.g. {@code parameter-server}; its section has the same name
   * @param command the command that its user types, e.g. {@code regatta pserver}: usage and errors begin with it
   * @param description of its purpose, for the usage
   */
  public record Called(String service, String command, String description) {}

  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = ServiceMain.class.getPackage().getImplementationVersion();
      return new String[] {"regatta " + (version == null ? "(unpackaged)" : version)};
    }
  }

  private final String service;
  private final Called called;
  private final Class<R> configClass;
  private final Consumer<R> check;
  private final BiFunction<Node, R, ? extends Deployable> verticle;
  private final PrintStream out;
  private final PrintStream err;
  private final List<Shorthand> shorthands;
  private final Promise<Void> stopRequested = Promise.promise();
  private final Promise<Void> ended = Promise.promise();
  private volatile Node.Starting starting;
  /** False: the close of the node has been abandoned; then the hook abandons it as well. */
  private boolean closed = true;

  ServiceMain(Called called, Class<R> configClass, Consumer<R> check, BiFunction<Node, R, ? extends Deployable> verticle,
      PrintStream out, PrintStream err, Shorthand... shorthands) {
    this.shorthands = Stream.concat(COMMON.stream(), Stream.of(shorthands)).toList();
    this.called = called;
    this.service = called.service();
    this.configClass = configClass;
    this.check = check;
    this.verticle = verticle;
    this.out = out;
    this.err = err;
  }

  /**
   * Runs a service until it ends, and then the JVM.
   *
   * @param configClass the record of its section
   * @param verticle makes the verticle; its {@code start()} completes when the service is ready
   * @param shorthands options that this service has besides those of all
   */
  public static <R extends Record> void run(String[] args, Called called, Class<R> configClass,
      BiFunction<Node, R, ? extends Deployable> verticle, Shorthand... shorthands) {
    run(args, called, configClass, own -> {}, verticle, shorthands);
  }

  /**
   * Runs a service whose section can be checked before the node starts, which takes seconds.
   *
   * @param check refuses, by {@code InvalidInput}, a section that cannot be served; may block
   */
  public static <R extends Record> void run(String[] args, Called called, Class<R> configClass, Consumer<R> check,
      BiFunction<Node, R, ? extends Deployable> verticle, Shorthand... shorthands) {
    ServiceMain<R> main = new ServiceMain<>(called, configClass, check, verticle, System.out, System.err, shorthands);
    int status;
    try (Interrupt interrupt = Interrupt.closes(main::stop)) {
      status = main.execute(args);
      if (main.closed) {
        main.ended.complete();
      }
    }
    System.exit(status);
  }

  /**
   * Asks the running service to close, also while it still starts. Completes when {@link #execute} has returned and
   * everything is closed.
   */
  private Future<Void> stop() {
    stopRequested.tryComplete();
    Node.Starting node = starting; // read after the request is set: a start that begins now sees the request
    if (node != null) {
      node.cancel();
    }
    return ended.future();
  }

  /** Runs the service on the calling thread until it has closed. Returns the exit status. */
  int execute(String... args) {
    Options options = new Options();
    CommandLine commandLine = new CommandLine(options).setCommandName(called.command());
    commandLine.getCommandSpec().usageMessage().description(called.description())
        .footer("", "For example: " + called.command() + " -conf " + service + ".yaml");
    shorthands.forEach(s -> commandLine.getCommandSpec().addOption(s.spec()));
    try {
      commandLine.parseArgs(args);
    } catch (ParameterException e) {
      err.println(called.command() + ": " + BadArguments.words(e) + " (--help lists the options)");
      return 2;
    }
    if (commandLine.isUsageHelpRequested()) {
      commandLine.usage(out);
      return 0;
    }
    if (commandLine.isVersionHelpRequested()) {
      commandLine.printVersionHelp(out);
      return 0;
    }
    List<Settings.Option> given = new ArrayList<>();
    for (Shorthand s : shorthands) {
      String value = commandLine.getParseResult().matchedOptionValue(s.option(), null);
      if (value != null) {
        given.add(new Settings.Option(s.option(), s.key(), value));
      }
    }
    try {
      EffectiveConfig effective = load(options, given);
      Map<String, Object> sections = effective.bindSections();
      if (options.showConfig) {
        effective.lines().forEach(out::println);
        return 0;
      }
      return serve((NodeConfig) sections.get(Sections.NODE), configClass.cast(sections.get(section())));
    } catch (InvalidInput e) {
      err.println(called.command() + ": " + e.getMessage());
      return 2;
    } catch (RunEnded e) {
      print(called.command() + ": " + e.getMessage());
      return 0;
    } catch (RegattaException e) {
      if (e instanceof Cancelled && stopRequested.future().isComplete()) {
        return 0;
      }
      err.println(called.command() + ": " + e.getMessage());
      return 1;
    } catch (RuntimeException e) {
      LOG.error("{} failed", service, e);
      err.println(called.command() + ": " + e);
      return 1;
    }
  }

  private String section() {
    return Sections.of(service);
  }

  /** Reads the configuration before there is a cluster, therefore with a small Vertx of its own. */
  private EffectiveConfig load(Options options, List<Settings.Option> given) {
    Map<String, Class<? extends Record>> sections = new LinkedHashMap<>();
    sections.put(Sections.NODE, NodeConfig.class);
    sections.put(section(), configClass);
    Vertx reader = ClusteredVertx.local(1, null);
    List<String> others = Sections.except(List.copyOf(sections.keySet()));
    try {
      return Blocking.get(Settings.load(reader, Schema.sections(sections),
          Settings.Sources.ofProcess(options.conf, given, options.overrides).withIgnored(others)));
    } finally {
      Blocking.get(reader.close());
    }
  }

  private int serve(NodeConfig config, R own) {
    if (Directory.SERVICES.contains(service) && !ALONE.contains(service)) {
      config.requireOthers("");
    }
    check.accept(own);
    starting = Node.begin(config, service);
    if (stopRequested.future().isComplete()) {
      starting.cancel();
    }
    Node node = Blocking.get(starting.future());
    Promise<Integer> status = Promise.promise();
    stopRequested.future().onComplete(v -> status.tryComplete(0));
    deploy(node, own, status);
    try {
      return Blocking.get(status.future());
    } finally {
      close(node);
    }
  }

  private void deploy(Node node, R own, Promise<Integer> status) {
    Deployable deployable;
    try {
      deployable = verticle.apply(node, own);
    } catch (RuntimeException e) {
      status.tryFail(e);
      return;
    }
    ServiceProcess.deploy(node, service, deployable, this::print).onComplete(deployed -> {
      if (deployed.failed()) {
        status.tryFail(deployed.cause());
        return;
      }
      if (deployable instanceof FiniteService finite) {
        finite.finished().onComplete(done -> {
          if (done.succeeded()) {
            if (done.result() != null) { // the work's own summary
              print(done.result());
            }
            status.tryComplete(0);
          } else {
            status.tryFail(done.cause());
          }
        });
      }
    });
  }

  private void print(Object line) {
    out.println(line);
    out.flush();
  }

  private void close(Node node) {
    Future<Void> closing = node.close();
    closed = Interrupt.settles(closing);
    if (!closed) {
      LOG.warn("{} did not close within {} s and is ended as it is", service, Interrupt.LIMIT.toSeconds());
    } else if (closing.failed()) {
      LOG.warn("{} closed with a failure: {}", service, closing.cause().toString());
    } else {
      LOG.info("{} closed", service);
    }
  }
}
