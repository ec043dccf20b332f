package io.regatta.fleet.command.option;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/**
 * A trainer's part in the words of v2's {@code paddle.init}: each option stands for the variable {@code PADDLE_INIT_*}
 * of its name, and takes precedence over it.
 */
public final class InitOptions {

  private static final String PREFIX = "PADDLE_INIT_";

  @Option(names = "--pservers", paramLabel = "HOST,...", description = "parameter servers, in the same order for all trainers (v2)")
  private String pservers;

  @Option(names = "--port", paramLabel = "PORT", description = "first port of every server (7164)")
  private String port;

  @Option(names = "--ports_num", paramLabel = "N", description = "consecutive ports of every server (1)")
  private String portsNum;

  @Option(names = "--ports_num_for_sparse", paramLabel = "N",
      description = "more of them behind those (1), for sparse tables only")
  private String portsNumForSparse;

  @Option(names = "--num_gradient_servers", paramLabel = "N", description = "trainers (1)")
  private String numGradientServers;

  @Option(names = "--trainer_id", paramLabel = "N", description = "rank of this one (0)")
  private String trainerId;

  @Option(names = "--trainer_count", paramLabel = "N", description = "threads of this trainer, each with a replica (1)")
  private String trainerCount;

  @Option(names = "--use_gpu", paramLabel = "True|False", description = "whether the model is on a GPU")
  private String useGpu;

  /** Returns the values of the options that were given, by the names of their variables. */
  public Map<String, String> given() {
    Map<String, String> given = elsewhere();
    put(given, "TRAINER_COUNT", trainerCount);
    put(given, "USE_GPU", useGpu);
    return given;
  }

  /** Returns the names of the given options that have no effect on a trainer that trains alone. */
  public List<String> ofOthers() {
    return elsewhere().keySet().stream().map(name -> "--" + name.substring(PREFIX.length()).toLowerCase(Locale.ROOT)).toList();
  }

  private Map<String, String> elsewhere() {
    Map<String, String> given = new LinkedHashMap<>();
    put(given, "PSERVERS", pservers);
    put(given, "PORT", port);
    put(given, "PORTS_NUM", portsNum);
    put(given, "PORTS_NUM_FOR_SPARSE", portsNumForSparse);
    put(given, "NUM_GRADIENT_SERVERS", numGradientServers);
    put(given, "TRAINER_ID", trainerId);
    return given;
  }

  private static void put(Map<String, String> given, String name, String value) {
    if (value != null) {
      given.put(PREFIX + name, value);
    }
  }
}
