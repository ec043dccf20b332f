package io.regatta.aggregator;

import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;

/** {@code java -jar gradient-aggregator.jar -conf FILE}: an aggregator in a process of its own. */
public final class AggregatorMain {

  private AggregatorMain() {}

  public static void main(String[] args) {
    ServiceMain.run(args, Directory.GRADIENT_AGGREGATOR, AggregatorConfig.class, AggregatorVerticle::new);
  }
}
