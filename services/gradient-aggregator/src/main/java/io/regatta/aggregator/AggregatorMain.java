package io.regatta.aggregator;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;

/** {@code java -jar gradient-aggregator.jar -conf FILE}: an aggregator in a process of its own. */
public final class AggregatorMain {

  public static final String DESCRIPTION = "Runs this host's gradient aggregator.";

  private AggregatorMain() {}

  public static void main(String[] args) {
    run("gradient-aggregator", args);
  }

  /**
   * Runs it until it ends, and then the JVM.
   *
   * @param command that its user typed
   */
  public static void run(String command, String[] args) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.GRADIENT_AGGREGATOR, command, DESCRIPTION),
        AggregatorConfig.class, AggregatorVerticle::new);
  }
}
