package io.regatta.fleet.command.output;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {

  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return "regatta " + (version == null ? "(unpackaged)" : version) + ", Java " + Runtime.version();
  }

  @Override
  public String[] getVersion() {
    return new String[] {text()};
  }
}
