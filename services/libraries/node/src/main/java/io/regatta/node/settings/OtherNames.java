package io.regatta.node.settings;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The system properties {@code regatta.*} and environment variables {@code REGATTA_*} that are no keys of the
 * configuration. All others must be keys, so that a typo does not silently have no effect. docs/configuration.md lists
 * them.
 */
public final class OtherNames {

  private static final String OWN_PROPERTIES = "regatta.app.";
  private static final String OWN_VARIABLES = "REGATTA_APP_";
  private static final Map<String, String> NAMES = new LinkedHashMap<>();

  static {
    NAMES.put("REGATTA_LOG", "Level of Regatta's own log, INFO unless set: ERROR, WARN, INFO, DEBUG, TRACE. From DEBUG on, "
        + "it holds what Hazelcast says of its own affairs, too, and where a thread is that Vert.x finds blocked.");
    NAMES.put("REGATTA_LAUNCHER", "Set by `regatta launch` for what it starts: its process id. They end when it has gone.");
    NAMES.put("REGATTA_JAVA_OPTS", "JVM options that the script `regatta` passes on.");
    NAMES.put("REGATTA_CLASSPATH", "Libraries beside Regatta's own that the script `regatta` puts on the class path, for Parquet "
        + "or S3 say ([data.md](data.md)).");
    NAMES.put("REGATTA_GLOO_PYTHON", "Load tests: a Python with torch, for the peer of all-reduce.");
    NAMES.put(OWN_VARIABLES + "*", "A program's own; Regatta never looks at them.");
    NAMES.put(OWN_PROPERTIES + "*", "A program's own; Regatta never looks at them.");
    NAMES.put("regatta.data", "Tests: directory of the public data sets.");
    NAMES.put("regatta.root", "Tests: the checkout.");
    NAMES.put("regatta.version", "Tests: Regatta's version.");
    NAMES.put("regatta.local.repository", "Tests: Maven's local repository.");
    NAMES.put("regatta.docs.update", "Tests: true writes the tables of docs/configuration.md and docs/optimizers.md anew.");
    NAMES.put("regatta.service.jars.skip", "Build: true leaves out the services' own jars.");
    NAMES.put("regatta.jvm", "Build: JVM options of the tests.");
    NAMES.put("regatta.test.forks", "Build: test classes that run side by side.");
  }

  private OtherNames() {}

  /** Returns every such name, or the beginning of names with a star, and its purpose. */
  public static Map<String, String> described() {
    return Collections.unmodifiableMap(NAMES);
  }

  static boolean contains(String name) {
    return NAMES.containsKey(name) || name.startsWith(OWN_PROPERTIES) || name.startsWith(OWN_VARIABLES);
  }
}
