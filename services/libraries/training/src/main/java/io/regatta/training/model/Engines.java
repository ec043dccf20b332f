package io.regatta.training.model;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineProvider;
import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.nn.Block;
import ai.djl.training.GradientCollector;
import com.sun.jna.Library;
import com.sun.jna.Native;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The DJL engine of this process: its start and selection, and what exists once per process, which is the number of
 * compute threads and the random seed. Any thread may use it; starting and seeding happen under one lock.
 */
public final class Engines {

  private static final Logger log = LoggerFactory.getLogger(Engines.class);
  private static final Object LOCK = new Object();
  /** Shared libraries that the natives need and that slim images lack, with Debian's package. */
  private static final List<String[]> LIBRARIES = List.of(
      new String[] {"libgomp", "libgomp1"},
      new String[] {"libopenblas", "libopenblas0"},
      new String[] {"libgfortran", "libgfortran5"},
      new String[] {"libquadmath", "libquadmath0"},
      new String[] {"libstdc++", "libstdc++6"},
      new String[] {"libgcc_s", "libgcc-s1"});

  /** DJL's client of a prediction server; it cannot train. */
  private static final String REMOTE = "RPC";

  /** Written under the lock. */
  private static volatile Engine started;
  private static int threads;

  /**
   * MXNet's number of backward operations that its engine runs as one, 15 by default: their gradients cannot be read
   * until all of them have been computed.
   */
  private static final String BACKWARD_AT_ONCE = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD";

  /** The C library: the engines read its environment when they are loaded. */
  interface LibC extends Library {
    int setenv(String name, String value, int overwrite);

    String getenv(String name);
  }

  private Engines() {}

  /**
   * Returns the engine of this process; the first call starts it.
   *
   * @param name {@code auto}: DJL's own {@code ai.djl.default_engine}, else MXNet where its natives exist (x86-64),
   *     PyTorch elsewhere; or the name of a DJL engine
   * @param computeThreads threads of the engine's kernels, for the whole process; 0: the engine's own default
   */
  public static Engine start(String name, int computeThreads) {
    synchronized (LOCK) {
      if (started == null) {
        String chosen = choose(name, System.getProperty("os.name"), System.getProperty("os.arch"));
        requireKnown(chosen);
        System.setProperty("OPT_OUT_TRACKING", "true");
        System.setProperty("ai.djl.default_engine", chosen);
        System.setProperty("ai.djl.use_local_parameter_server", "true");
        setEnvironment(computeThreads);
        started = load(chosen);
        threads = computeThreads;
        return started;
      }
      requireStarted(name);
      if (computeThreads != threads) {
        log.warn("compute_threads stays {}: the engine of this process was started with it, {} has no effect", threads,
            computeThreads);
      }
      return started;
    }
  }

  /** Checks an engine by its name, without starting any; see {@link #start}. */
  public static void check(String name) {
    synchronized (LOCK) {
      if (started != null) {
        requireStarted(name);
      } else if (!isAuto(name)) {
        requireKnown(choose(name, System.getProperty("os.name"), System.getProperty("os.arch")));
      }
    }
  }

  /** Returns the engine of this process, started with its defaults if no job has done so. */
  public static Engine current() {
    synchronized (LOCK) {
      return started == null ? start("auto", 0) : started;
    }
  }

  private static void requireStarted(String name) {
    if (!isAuto(name) && !name.equalsIgnoreCase(started.getEngineName())) {
      throw new InvalidInput("engine: this process runs " + started.getEngineName() + " already, but the job requires "
          + name + "; start it in a process of its own");
    }
  }

  private static boolean isAuto(String name) {
    return name == null || name.isBlank() || name.equalsIgnoreCase("auto");
  }

  /**
   * Returns the engine's name for a configured name and a platform. If auto does not choose MXNet, it logs the reason.
   */
  static String choose(String wish, String os, String arch) {
    boolean natives = os.toLowerCase(Locale.ROOT).contains("linux")
        && (arch.equals("amd64") || arch.equals("x86_64"));
    if (!isAuto(wish)) {
      if (wish.equalsIgnoreCase("mxnet") && !natives && System.getenv("MXNET_LIBRARY_PATH") == null) {
        throw new InvalidInput("engine: MXNet's natives exist for linux x86-64 only, this is " + os + " " + arch
            + "; use engine: auto or PyTorch, or point MXNET_LIBRARY_PATH to a library of your own");
      }
      return wish.equalsIgnoreCase("mxnet") ? "MXNet" : wish.equalsIgnoreCase("pytorch") ? "PyTorch" : wish;
    }
    String given = System.getProperty("ai.djl.default_engine", System.getenv("DJL_DEFAULT_ENGINE"));
    if (given != null && !given.isBlank()) {
      return given;
    }
    if (natives) {
      return "MXNet";
    }
    log.info("MXNet's natives do not exist for {} {}: using the PyTorch engine for the same job", os, arch);
    return "PyTorch";
  }

  /**
   * Sets the environment that the engines and their OpenMP runtime read when their libraries are loaded. Each backward
   * operation runs alone, unless the user has set that otherwise, so that a gradient can be copied while those of
   * earlier layers are computed. The number of threads is set too.
   */
  private static void setEnvironment(int computeThreads) {
    String given = System.getenv("OMP_NUM_THREADS");
    if (computeThreads > 0) {
      if (given != null && !given.equals(Integer.toString(computeThreads))) {
        log.warn("OMP_NUM_THREADS={} in the environment is overridden by compute_threads={}", given, computeThreads);
      }
      System.setProperty("ai.djl.pytorch.num_threads", Integer.toString(computeThreads));
      System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
    }
    try {
      LibC c = Native.load("c", LibC.class);
      c.setenv(BACKWARD_AT_ONCE, "1", 0);
      if (computeThreads > 0) {
        c.setenv("OMP_NUM_THREADS", Integer.toString(computeThreads), 1);
        c.setenv("MXNET_OMP_MAX_THREADS", Integer.toString(computeThreads), 1);
      }
    } catch (UnsatisfiedLinkError e) {
      log.warn("compute_threads could not be set ({}); set OMP_NUM_THREADS={} in the environment", e.getMessage(),
          computeThreads);
    }
  }

  /** Checks that an engine exists, before the class Engine is loaded, which fails if the chosen one is missing. */
  private static void requireKnown(String name) {
    List<String> known = ServiceLoader.load(EngineProvider.class, Engines.class.getClassLoader()).stream()
        .map(provider -> provider.get().getEngineName()).filter(engine -> !engine.equals(REMOTE)).sorted().toList();
    if (!known.contains(name)) {
      throw new InvalidInput("engine: " + name + " is not on the class path, known engines are " + known
          + "; a build with -Ppytorch has PyTorch, too");
    }
  }

  private static Engine load(String name) {
    try {
      Engine engine = Engine.getEngine(name);
      log.debug("engine {} {} started", engine.getEngineName(), engine.getVersion());
      return engine;
    } catch (RuntimeException | LinkageError e) {
      throw new InvalidInput("engine " + name + " could not be started: " + reason(e), e);
    }
  }

  /** Returns a collector for the calling thread. Several threads may each have one, with any engine. */
  public static GradientCollector newGradientCollector() {
    Engine engine = current();
    return isMxnet(engine) ? engine.newGradientCollector() : PyTorchCollectors.open(engine);
  }

  /**
   * Resets the engine's state of the calling thread to that of a new thread: nothing is recorded, and random numbers
   * start anew. MXNet keeps all of this per thread, its generators too; a new thread's have seed 0.
   *
   * @return false if the engine keeps a state per thread that cannot be reset here
   */
  static boolean renewThread() {
    Engine engine = started;
    if (engine == null) {
      return true;
    }
    if (!isMxnet(engine)) {
      return false;
    }
    JnaUtils.autogradSetIsRecording(false);
    JnaUtils.autogradSetTraining(false);
    JnaUtils.randomSeed(0);
    return true;
  }

  /**
   * Sets the engine's generator of random numbers for the calling thread; engines other than MXNet have one for all
   * threads.
   */
  public static void seed(int seed) {
    current().setRandomSeed(seed);
  }

  /** Returns true if backward overwrites gradients and their arrays stay; other engines add to them. */
  public static boolean isMxnet(Engine engine) {
    return engine.getEngineName().equals("MXNet");
  }

  /** Returns the training passes of this block as graphs. */
  public static SymbolicForward symbolic(Block block, Engine engine) {
    if (!isMxnet(engine)) {
      throw new InvalidInput("execution: symbolic requires MXNet to record its graph, but this job's engine is " + engine.getEngineName()
          + "; use execution: imperative, or engine: MXNet");
    }
    return new SymbolicForward(block);
  }

  /** Returns the innermost message; if a shared library is missing, with the package to install. */
  static String reason(Throwable failure) {
    String message = failure.toString();
    for (Throwable t = failure; t != null; t = t.getCause()) {
      String text = String.valueOf(t.getMessage());
      for (String[] library : LIBRARIES) {
        if (text.contains(library[0]) && text.contains("cannot open shared object file")) {
          return "the shared library " + library[0] + " is missing on this machine; install it, for example with: "
              + "apt-get install " + library[1];
        }
      }
      message = t.getMessage() == null ? t.toString() : t.getMessage();
    }
    return message.lines().findFirst().orElse(failure.toString());
  }

  /**
   * Draws initial values with the engine's generator set to {@code seed}, while no other thread draws, so that they are
   * the same in every run.
   */
  public static <T> T seeded(long seed, Supplier<T> draw) {
    synchronized (LOCK) {
      Engine engine = current();
      engine.setRandomSeed((int) (seed ^ (seed >>> 32)));
      T drawn = draw.get();
      if (isMxnet(engine)) {
        JnaUtils.waitAll();
      }
      return drawn;
    }
  }
}
