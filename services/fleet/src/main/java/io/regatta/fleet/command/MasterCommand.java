package io.regatta.fleet.command;

import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.node.Node;
import io.regatta.node.Sections;
import io.regatta.node.ServiceProcess;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.node.settings.Settings;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The rendezvous of a launched job. Its launcher ends it by closing this process's standard input; it then stays until
 * the trainers of other machines have left, too.
 */
@Command(name = "master", hidden = true, description = "The rendezvous of a launched job.")
final class MasterCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Parameters(index = "0", paramLabel = "HOST:PORT")
  private String endpoint;

  @Override
  public Integer call() {
    ProcessSettings place = ProcessSettings.load(settings.conf(), List.of(new Settings.Option("--master", "fleet.rendezvous_endpoint", endpoint)),
        settings.sectionKeys(), code());
    Node.Starting starting = Node.begin(place.node(), Directory.RENDEZVOUS);
    try (Interrupt interrupt = Interrupt.closes(starting::close)) {
      Node node = Blocking.get(starting.future());
      RendezvousVerticle verticle = new RendezvousVerticle(node, place.rendezvous());
      Blocking.get(ServiceProcess.deploy(node, Directory.RENDEZVOUS, verticle, line -> Report.say(spec.commandLine().getOut(), line)));
      Blocking.get(inputEnds().future());
      Blocking.get(verticle.idle());
      return Report.DONE;
    } finally {
      Blocking.get(starting.close());
    }
  }

  /** Returns the settings given by code: an admin port in the settings is that of the trainer beside this process. */
  private static JsonObject code() {
    return ProcessSettings.ofRole(Role.RENDEZVOUS).put(Sections.NODE, new JsonObject().put("admin", new JsonObject().put("port", 0)));
  }

  private static Promise<Void> inputEnds() {
    Promise<Void> ended = Promise.promise();
    Thread reader = new Thread(() -> {
      try {
        System.in.transferTo(OutputStream.nullOutputStream());
      } catch (IOException e) {
        // as good as its end
      }
      ended.complete();
    }, "regatta-input");
    reader.setDaemon(true);
    reader.start();
    return ended;
  }
}
