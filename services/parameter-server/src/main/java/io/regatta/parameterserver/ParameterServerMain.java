package io.regatta.parameterserver;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;

/** The program {@code java -jar parameter-server.jar -conf FILE}: a parameter server in a process of its own. */
public final class ParameterServerMain {

  public static final String DESCRIPTION = "Runs a parameter server with its shards.";

  private ParameterServerMain() {}

  public static void main(String[] args) {
    run("parameter-server", args);
  }

  /**
   * Runs a parameter server until it ends, and then ends the JVM.
   *
   * @param command what its user typed
   */
  public static void run(String command, String[] args) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.PARAMETER_SERVER, command, DESCRIPTION),
        ParameterServerConfig.class, ParameterServerVerticle::new);
  }
}
