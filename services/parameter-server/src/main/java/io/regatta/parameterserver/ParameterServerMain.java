package io.regatta.parameterserver;

import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;

/** {@code java -jar parameter-server.jar -conf FILE}: a parameter server in a process of its own. */
public final class ParameterServerMain {

  private ParameterServerMain() {}

  public static void main(String[] args) {
    ServiceMain.run(args, Directory.PARAMETER_SERVER, ParameterServerConfig.class, ParameterServerVerticle::new);
  }
}
