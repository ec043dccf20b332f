package io.regatta.node.settings;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.Locale;

/** Environment variables that begin as Regatta's own but are none, and the advice about each. Stateless. */
final class Variables {

  static final String PREFIX = "REGATTA_";

  /** The form of the variables in which Kubernetes publishes addresses of a service. */
  private static final String LINK_NAME = ".*_SERVICE_(HOST|PORT)(_.*)?|.*_PORT_\\d+_.*";
  private static final String LINK_VALUE = "(tcp|udp|sctp)://.*";

  private Variables() {}

  /** Returns the variable of a key. */
  static String of(String path) {
    return PREFIX + path.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /**
   * Returns the error of an unknown variable.
   *
   * @param knownPaths keys that a variable may stand for
   * @param path the key that this one would stand for
   */
  static InvalidInput unknown(List<String> knownPaths, String path, String name, String value) {
    String said = "environment variable " + name + ": there is no key '" + path + "'";
    if (name.matches(LINK_NAME) || value.matches(LINK_VALUE)) {
      return new InvalidInput(said + "; Kubernetes sets such variables for a service whose name begins with regatta: put "
          + "enableServiceLinks: false into the pod's spec, or unset it");
    }
    return new InvalidInput(said + SettingsBinder.nearest(knownPaths, path)
        .map(key -> "; the nearest known variable is " + of(key)).orElse("")
        + "; unset it, or call it " + PREFIX + "APP_... if it is a program's own");
  }
}
