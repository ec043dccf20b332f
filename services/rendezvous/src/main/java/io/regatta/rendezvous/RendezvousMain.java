package io.regatta.rendezvous;

import io.regatta.node.ServiceMain;
import io.regatta.node.directory.Directory;

/** {@code java -jar rendezvous.jar -conf FILE}: a rendezvous in a process of its own. */
public final class RendezvousMain {

  public static final String DESCRIPTION = "Runs a rendezvous: who is in the group.";

  private RendezvousMain() {}

  public static void main(String[] args) {
    run("rendezvous", args);
  }

  /**
   * Runs it until it ends, and then the JVM.
   *
   * @param command what its user typed
   */
  public static void run(String command, String[] args) {
    ServiceMain.run(args, new ServiceMain.Called(Directory.RENDEZVOUS, command, DESCRIPTION),
        RendezvousConfig.class, RendezvousVerticle::new);
  }
}
