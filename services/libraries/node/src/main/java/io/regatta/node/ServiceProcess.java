package io.regatta.node;

import io.regatta.node.admin.Hosted;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * A service that has a process to itself. {@code /ready} shows the process besides the service, and one line announces
 * that the service serves. Launchers wait for that line. Stateless, any thread.
 */
public final class ServiceProcess {

  private ServiceProcess() {}

  /**
   * Deploys the service.
   *
   * @param service its name in the directory
   * @param ready gets the line that begins with {@code ready} when the service serves, on a thread of the node's
   */
  public static Future<String> deploy(Node node, String service, Deployable verticle, Consumer<String> ready) {
    Hosted.Service process = node.starting("process");
    return node.deploy(verticle).onSuccess(id -> {
      process.serves();
      ready.accept("ready " + service + " host=" + node.host() + " admin=" + node.adminPort() + " pid="
          + ProcessHandle.current().pid());
    });
  }
}
