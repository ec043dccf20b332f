package io.regatta.load.attack;

import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The attacker's program: prints a table of its attempts, and of what it learnt and changed. Exit status 0 if it learnt
 * and changed nothing but that ports are there, 3 if it did, 1 if it failed.
 */
public final class Attacker {
  private static final String USAGE = "Attacker ports FILE KEYS HOST CLUSTER JOB"
      + " | impostor KEYS TLS_PORT CLEAR_PORT SECONDS | recording FILE PORTS HOST ATTEMPT";
  private static final int PORTS_AT_A_TIME = 4;
  private static final int HARM = 3;

  private Attacker() {}

  /** Runs one kind of attack; {@code args} as the usage says. */
  public static void main(String[] args) throws Exception {
    AttackReport findings = new AttackReport();
    switch (args.length == 0 ? "" : args[0]) {
      case "ports" -> ports(Port.read(Path.of(args[1])), Path.of(args[2]), args[3], args[4], args[5], findings);
      case "impostor" -> findings.add(Impostor.run(Path.of(args[1]), Integer.parseInt(args[2]),
          Integer.parseInt(args[3]), Integer.parseInt(args[4])));
      case "recording" -> findings.add(Capture.read(Path.of(args[1]), args[4], args[3], Port.read(Path.of(args[2]))));
      default -> {
        System.err.println(USAGE);
        System.exit(2);
      }
    }
    System.out.println(findings.markdown());
    System.out.println(findings.attempts() + " attempts, of which " + findings.harmful()
        + " learnt or changed something");
    System.exit(findings.harmful() == 0 ? 0 : HARM);
  }

  private static void ports(List<Port> ports, Path keys, String host, String cluster, String job, AttackReport findings)
      throws Exception {
    Set<String> known = new TreeSet<>(Set.of("CN=node", "CN=ca", "localhost", "127.0.0.1"));
    ports.forEach(port -> known.add(port.host()));
    Vertx vertx = Vertx.vertx();
    ExecutorService threads = Executors.newFixedThreadPool(PORTS_AT_A_TIME);
    try (Eavesdropper groups = new Eavesdropper(host)) {
      CallAttack calls = new CallAttack(vertx, keys, job);
      List<Callable<List<Finding>>> attacks = new ArrayList<>();
      ports.forEach(port -> attacks.add(() -> RawAttack.run(port)));
      ports.forEach(port -> attacks.add(() -> HandshakeAttack.run(port, known)));
      ports.forEach(port -> attacks.add(() -> calls.run(port)));
      ports.forEach(port -> attacks.add(() -> List.of(MemberAttack.client(port, cluster))));
      attacks.add(() -> List.of(MemberAttack.member(ports, host, cluster)));
      for (Future<List<Finding>> attack : threads.invokeAll(attacks)) {
        findings.add(attack.get());
      }
      findings.add(groups.findings());
    } finally {
      threads.shutdown();
      vertx.close();
    }
  }
}
