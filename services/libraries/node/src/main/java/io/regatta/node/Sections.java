package io.regatta.node;

import io.regatta.node.directory.Directory;
import java.util.List;
import java.util.stream.Stream;

/**
 * Names of the sections at the root of a configuration. All processes may share one configuration: each reads its own
 * sections and ignores the others. Stateless.
 */
public final class Sections {

  public static final String NODE = "node";
  public static final String FLEET = "fleet";
  public static final String RENDEZVOUS = of(Directory.RENDEZVOUS);
  public static final String PARAMETER_SERVER = of(Directory.PARAMETER_SERVER);
  public static final String GRADIENT_AGGREGATOR = of(Directory.GRADIENT_AGGREGATOR);
  public static final String TRAINER = of(Directory.TRAINER);
  public static final String HETER_WORKER = of(Directory.HETER_WORKER);
  public static final String PREDICTOR = of(Directory.PREDICTOR);

  private static final List<String> ALL =
      Stream.concat(Stream.of(NODE, FLEET), Directory.SERVICES.stream().map(Sections::of)).toList();

  private Sections() {}

  /** Returns the section of a service: {@code parameter_server} of {@code parameter-server}. */
  public static String of(String service) {
    return service.replace('-', '_');
  }

  /** Returns all sections but these. */
  public static List<String> except(List<String> own) {
    return ALL.stream().filter(name -> !own.contains(name)).toList();
  }

  /** Returns true if a key belongs to a section: {@code node.admin.port} does, {@code batch_size} of a job does not. */
  public static boolean holds(String key) {
    return ALL.stream().anyMatch(name -> key.equals(name) || key.startsWith(name + "."));
  }
}
