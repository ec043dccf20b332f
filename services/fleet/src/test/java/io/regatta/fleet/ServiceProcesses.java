package io.regatta.fleet;

import io.regatta.aggregator.AggregatorMain;
import io.regatta.heterworker.HeterWorkerMain;
import io.regatta.node.testing.FreePorts;
import io.regatta.parameterserver.ParameterServerMain;
import io.regatta.rendezvous.RendezvousMain;
import io.regatta.trainer.TrainerMain;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.Yaml;

/** Services as processes of their own, which find each other through a Hazelcast seed. */
final class ServiceProcesses implements AutoCloseable {
  private static final Map<String, Class<?>> MAINS = Map.of("rendezvous", RendezvousMain.class, "parameter-server",
      ParameterServerMain.class, "gradient-aggregator", AggregatorMain.class, "trainer", TrainerMain.class,
      "heter-worker", HeterWorkerMain.class);

  private final Path dir;
  private final boolean jars;
  private final String seed = "127.0.0.1:" + FreePorts.one();
  /** 0: the default. */
  private int readySeconds;
  private final List<JavaProcess> processes = new ArrayList<>();

  private ServiceProcesses(Path dir, boolean jars) {
    this.dir = dir;
    this.jars = jars;
  }

  /**
   * Services of this class path, with the archive of its classes, which halves what a start costs.
   *
   * @param dir for configuration files
   */
  static ServiceProcesses fromClassPath(Path dir) {
    return new ServiceProcesses(dir, false);
  }

  /** The packaged services, started with {@code java -jar} as a user starts them. */
  static ServiceProcesses fromJars(Path dir) {
    return new ServiceProcesses(dir, true);
  }

  /** A packaged service, or {@code fleet}. */
  static Path jar(String service) {
    return Checkout.file("services/" + service + "/target/" + service + ".jar");
  }

  /** A job of configs/ with some keys changed, nested as in a file. */
  static JsonObject job(String name, List<String> keys) {
    JsonObject job = new JsonObject(new Yaml().<Map<String, Object>>load(Checkout.text("configs/" + name + ".yaml")));
    for (String key : keys) {
      String[] path = key.substring(0, key.indexOf('=')).split("\\.");
      String text = key.substring(key.indexOf('=') + 1);
      JsonObject at = job;
      for (int i = 0; i < path.length - 1; i++) {
        if (!at.containsKey(path[i])) {
          at.put(path[i], new JsonObject());
        }
        at = at.getJsonObject(path[i]);
      }
      at.put(path[path.length - 1], text.startsWith("[") ? new Yaml().load(text) : text);
    }
    return job;
  }

  /** The address of the seed, which is the rendezvous. */
  String seed() {
    return seed;
  }

  /** Sets the ready timeout of services that are started from now on. */
  void readyTimeout(int seconds) {
    readySeconds = seconds;
  }

  /** Starts a service with its section, which knows only the seed. */
  JavaProcess start(String service, String name, JsonObject own) throws Exception {
    int port = service.equals("rendezvous") ? Integer.parseInt(seed.substring(seed.indexOf(':') + 1)) : 0;
    JsonObject cluster = new JsonObject().put("seeds", List.of(seed)).put("port", port);
    JsonObject node = new JsonObject().put("cluster", cluster);
    if (readySeconds > 0) {
      node.put("ready_timeout_seconds", readySeconds);
    }
    JsonObject conf = new JsonObject().put("node", node)
        .put(service.replace('-', '_'), own);
    Path file = Files.writeString(dir.resolve(name + ".json"), conf.encodePrettily());
    JavaProcess process = jars ? JavaProcess.jar(name, jar(service), "-conf", file.toString())
        : JavaProcess.main(name, MAINS.get(service), "-conf", file.toString());
    processes.add(process);
    return process;
  }

  @Override
  public void close() {
    processes.forEach(JavaProcess::close);
  }
}
