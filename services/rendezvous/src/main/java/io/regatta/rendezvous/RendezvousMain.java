package io.regatta.rendezvous;

import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;

/** {@code java -jar rendezvous.jar -conf FILE}: a rendezvous in a process of its own. */
public final class RendezvousMain {

  private RendezvousMain() {}

  public static void main(String[] args) {
    ServiceMain.run(args, Directory.RENDEZVOUS, RendezvousConfig.class, RendezvousVerticle::new);
  }
}
