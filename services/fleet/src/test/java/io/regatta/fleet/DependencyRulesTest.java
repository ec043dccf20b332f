package io.regatta.fleet;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameStartingWith;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaParameterizedType;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.vertx.LimitedVertx;
import io.regatta.rendezvous.RendezvousService;
import io.regatta.training.TrainingProgram;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerImpl;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.NetServerOptions;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** The dependency rules of docs/architecture.md, over all modules. */
class DependencyRulesTest {

  private static final DescribedPredicate<JavaClass> VERTICLES =
      JavaClass.Predicates.assignableTo("io.vertx.core.Verticle")
          .or(JavaClass.Predicates.assignableTo("io.vertx.core.VerticleBase"));

  private static JavaClasses regatta;
  private static PublicApi api;

  @BeforeAll
  static void read() throws IOException {
    api = new PublicApi();
    regatta = new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .importPackages("io.regatta");
    assertThat(regatta.contain(TrainingProgram.class)).isTrue();
  }

  /** Load tests stand on fleet, fleet on services, and these on libraries; no service sees another. */
  @Test
  void dependencies_point_one_way() {
    ArchRule rule = layeredArchitecture().consideringOnlyDependenciesInLayers()
        .layer("core").definedBy("io.regatta.core..")
        .layer("shared-protocol").definedBy("io.regatta.protocol..")
        .layer("snapshot").definedBy("io.regatta.snapshot..")
        .layer("node").definedBy("io.regatta.node..")
        .layer("rendezvous").definedBy("io.regatta.rendezvous..")
        .layer("parameter-server").definedBy("io.regatta.parameterserver..")
        .layer("gradient-aggregator").definedBy("io.regatta.aggregator..")
        .layer("collective").definedBy("io.regatta.collective..")
        .layer("data").definedBy("io.regatta.data..")
        .layer("training").definedBy("io.regatta.training..")
        .layer("programs").definedBy("io.regatta.program..")
        .layer("trainer").definedBy("io.regatta.trainer..")
        .layer("heter-worker").definedBy("io.regatta.heterworker..")
        .layer("predictor").definedBy("io.regatta.predictor..")
        .layer("fleet").definedBy("io.regatta.fleet..")
        .whereLayer("core").mayNotAccessAnyLayer()
        .whereLayer("shared-protocol").mayOnlyAccessLayers("core")
        .whereLayer("snapshot").mayOnlyAccessLayers("core", "shared-protocol")
        .whereLayer("node").mayOnlyAccessLayers("core", "shared-protocol")
        .whereLayer("rendezvous").mayOnlyAccessLayers("core", "shared-protocol", "node")
        .whereLayer("parameter-server").mayOnlyAccessLayers("core", "shared-protocol", "snapshot", "node")
        .whereLayer("gradient-aggregator").mayOnlyAccessLayers("core", "shared-protocol", "node", "collective")
        .whereLayer("collective").mayOnlyAccessLayers("core", "shared-protocol", "node")
        .whereLayer("data").mayOnlyAccessLayers("core", "shared-protocol")
        .whereLayer("training").mayOnlyAccessLayers("core", "shared-protocol", "snapshot", "data", "node", "collective")
        .whereLayer("programs").mayOnlyAccessLayers("core", "data", "node", "training")
        .whereLayer("trainer").mayOnlyAccessLayers("core", "shared-protocol", "snapshot", "data", "node", "collective",
            "training")
        .whereLayer("heter-worker").mayOnlyAccessLayers("core", "shared-protocol", "node", "collective", "training")
        .whereLayer("predictor").mayOnlyAccessLayers("core", "shared-protocol", "snapshot", "data", "node", "training")
        .whereLayer("fleet").mayNotBeAccessedByAnyLayer();
    rule.check(regatta);
  }

  /** Packages that are made of the .proto files. */
  private static final String[] GENERATED =
      Stream.of("aggregation", "collective", "gather", "heterworker", "inference", "parameterserver", "prediction", "rendezvous", "tensor",
          "trainer")
          .map(name -> "io.regatta.protocol." + name).toArray(String[]::new);

  private static final String[] SERVERS =
      {"io.regatta.rendezvous..", "io.regatta.parameterserver..", "io.regatta.aggregator.."};

  /**
   * An application that uses a library chooses its own logging. What our own processes choose stands in two classes. What
   * tests share, in test jars, counts as tests here.
   */
  @Test
  void three_classes_see_the_logging_framework() {
    noClasses().that().doNotHaveFullyQualifiedName("io.regatta.node.process.LogbackLevel")
        .and().doNotHaveFullyQualifiedName("io.regatta.node.process.BlockedThreadNotice")
        .and().doNotHaveFullyQualifiedName("io.regatta.node.process.LibraryNotice")
        .and().resideOutsideOfPackage("io.regatta.node.testing..").should()
        .dependOnClassesThat().resideInAPackage("ch.qos.logback..").check(regatta);
  }

  /** The packages of the node are layers as well: none of them leads back to itself. */
  @Test
  void packages_of_the_node_have_no_cycles() {
    withoutCycles("io.regatta.node").check(regatta);
  }

  @Test
  void packages_of_collective_have_no_cycles() {
    withoutCycles("io.regatta.collective").check(regatta);
  }

  @Test
  void packages_of_data_have_no_cycles() {
    withoutCycles("io.regatta.data").check(regatta);
  }

  @Test
  void packages_of_training_have_no_cycles() {
    withoutCycles("io.regatta.training").check(regatta);
  }

  @Test
  void packages_of_programs_have_no_cycles() {
    withoutCycles("io.regatta.program").check(regatta);
  }

  @Test
  void packages_of_the_protocol_have_no_cycles() {
    withoutCycles("io.regatta.protocol").check(regatta);
  }

  @Test
  void packages_of_core_have_no_cycles() {
    withoutCycles("io.regatta.core").check(regatta);
  }

  @Test
  void packages_of_fleet_have_no_cycles() {
    withoutCycles("io.regatta.fleet").check(regatta);
  }

  /** The interface for programs → commands → { options, output, one-JVM clusters } → processes → launcher → roles. */
  @Test
  void packages_of_fleet_are_layers() {
    ArchRule rule = layeredArchitecture().consideringOnlyDependenciesInLayers()
        .layer("api").definedBy("io.regatta.fleet")
        .layer("command").definedBy("io.regatta.fleet.command")
        .layer("option").definedBy("io.regatta.fleet.command.option")
        .layer("output").definedBy("io.regatta.fleet.command.output")
        .layer("local").definedBy("io.regatta.fleet.local")
        .layer("process").definedBy("io.regatta.fleet.process")
        .layer("launch").definedBy("io.regatta.fleet.launch..")
        .layer("role").definedBy("io.regatta.fleet.role")
        .whereLayer("role").mayNotAccessAnyLayer()
        .whereLayer("launch").mayOnlyAccessLayers("role")
        .whereLayer("process").mayOnlyAccessLayers("launch", "role")
        .whereLayer("local").mayOnlyAccessLayers("process", "role")
        .whereLayer("output").mayOnlyAccessLayers("launch", "role")
        .whereLayer("option").mayOnlyAccessLayers("process", "launch", "role")
        .whereLayer("command").mayOnlyBeAccessedByLayers("api")
        .whereLayer("api").mayNotBeAccessedByAnyLayer();
    rule.check(regatta);
  }

  /** Each package under this one, and itself, is a slice. */
  private static ArchRule withoutCycles(String root) {
    return slices().assignedFrom(new SliceAssignment() {
      @Override
      public SliceIdentifier getIdentifierOf(JavaClass c) {
        String name = c.getPackageName();
        return name.equals(root) || name.startsWith(root + ".") ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
      }

      @Override
      public String getDescription() {
        return "packages of " + root;
      }
    }).should().beFreeOfCycles();
  }

  /** Types below a package named {@code internal} are public to the compiler alone. */
  @Test
  void internal_packages_are_used_from_their_parent_only() {
    ArchRule rule = classes().should(new ArchCondition<>("use no internal package of another room") {
      @Override
      public void check(JavaClass from, ConditionEvents events) {
        from.getDirectDependenciesFromSelf().forEach(use -> {
          String target = use.getTargetClass().getPackageName();
          int internal = (target + ".").indexOf(".internal.");
          if (target.startsWith("io.regatta.") && internal >= 0
              && !(from.getPackageName() + ".").startsWith(target.substring(0, internal) + ".")) {
            events.add(SimpleConditionEvent.violated(from, use.getDescription()));
          }
        });
      }
    });
    rule.check(regatta);
  }

  /** The trainer's strategies know no model library, so that a simulation can drive them. */
  @Test
  void strategies_do_not_see_djl() {
    ArchRule rule = noClasses().that().resideInAnyPackage("io.regatta.training.strategy..",
            "io.regatta.training.exchange..", "io.regatta.training.replica..")
        .should().dependOnClassesThat().resideInAPackage("ai.djl..");
    rule.check(regatta);
  }

  @Test
  void core_is_plain_java() {
    ArchRule rule = noClasses().that().resideInAPackage("io.regatta.core..")
        .should().dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.netty..", "ai.djl..", "com.hazelcast..", "com.google.protobuf..");
    rule.check(regatta);
  }

  /** Core has one asynchronous result, the stage: docs/decisions/0045-a-result-that-comes-later-is-a-stage.md. */
  @Test
  void core_takes_no_callbacks_of_a_value_or_an_error() {
    codeUnits().that().areDeclaredInClassesThat().resideInAPackage("io.regatta.core..")
        .should(new ArchCondition<>("take no callback of a value or an error") {
          @Override
          public void check(JavaCodeUnit unit, ConditionEvents events) {
            unit.getParameterTypes().stream().filter(DependencyRulesTest::isCallback).forEach(callback ->
                events.add(SimpleConditionEvent.violated(unit, unit.getFullName() + " takes " + callback.getName()
                    + "; return a CompletionStage")));
          }
        }).check(regatta);
  }

  private static boolean isCallback(JavaType type) {
    return type instanceof JavaParameterizedType callback && callback.toErasure().isEquivalentTo(BiConsumer.class)
        && callback.getActualTypeArguments().get(1).toErasure().isAssignableTo(Throwable.class);
  }

  @Test
  void only_training_programs_and_the_predictor_see_djl() {
    ArchRule rule = noClasses().that()
        .resideOutsideOfPackages("io.regatta.training..", "io.regatta.program..", "io.regatta.predictor..")
        .should().dependOnClassesThat().resideInAPackage("ai.djl..");
    rule.check(regatta);
  }

  @Test
  void data_does_not_see_vertx() {
    ArchRule rule = noClasses().that().resideInAPackage("io.regatta.data..")
        .should().dependOnClassesThat().resideInAnyPackage("io.vertx..", "io.netty..");
    rule.check(regatta);
  }

  @Test
  void only_the_node_sees_hazelcast() {
    ArchRule rule = noClasses().that().resideOutsideOfPackage("io.regatta.node..")
        .should().dependOnClassesThat().resideInAnyPackage("com.hazelcast..", "io.vertx.spi.cluster..");
    rule.check(regatta);
  }

  /** Another version of Vert.x may change its internals without notice. */
  @Test
  void one_package_uses_internals_of_vertx() {
    noClasses().that().resideOutsideOfPackage("io.regatta.protocol.vertx")
        .should().dependOnClassesThat().resideInAnyPackage("io.vertx..impl..", "io.vertx..internal..").check(regatta);
  }

  /** Another version of Hazelcast may change its internals without notice. */
  @Test
  void only_the_cluster_package_uses_internals_of_hazelcast() {
    ArchRule rule = noClasses().that().resideOutsideOfPackage("io.regatta.node.cluster")
        .should().dependOnClassesThat().resideInAnyPackage("com.hazelcast.internal..", "com.hazelcast.instance.impl..");
    rule.check(regatta);
  }

  /** Built-in programs use nothing that a user's program could not. */
  @Test
  void programs_use_the_public_api() {
    ArchRule rule = noClasses().that()
        .resideInAPackage("io.regatta.program..").or().implement(TrainingProgram.class)
        .should().dependOnClassesThat(DescribedPredicate.describe("are no part of the public API",
            (JavaClass c) -> !api.has(c.getBaseComponentType()) && !c.getPackageName().startsWith("io.regatta.program")));
    rule.check(regatta);
  }

  /** A reader of the documents sees the public API alone. */
  @Test
  void documents_use_the_public_api() throws IOException {
    assertThat(api.packages()).contains("io.regatta.fleet", "io.regatta.training");
    assertThat(api.otherImportsOfDocuments()).isEmpty();
  }

  /** Types and members in the packages of the API that are public for Regatta's other packages alone. */
  private static final List<String> NOT_FOR_PROGRAMS = List.of(
      // types: the machinery behind verticles, collectives and the trainer
      "CollectiveAggregator", "CollectiveRank", "DenseParameters", "Embeddings", "GatherCaller", "Groups",
      "ModelRegistration", "ProcessDiagnostics", "RankSums", "ReadyWait", "RendezvousGroups", "RendezvousService",
      "SampleFamilies", "ShardAddresses", "ShardMetrics", "TimedCollector",
      // types that a program gets, and gives on without a look inside
      "Choices", "PeerSecurity", "StreamOptions",
      // members of types that a program uses
      "BatchWithIds.distinct", "DgcConfigs.toSpec", "FleetTrainer.client", "FleetTrainer.init", "FleetTrainer.startOf",
      "FleetTrainer.times", "JobConfig.worldSize", "LocalCluster.Options.of", "Node.network", "PortGuest.begin",
      "RangeConfig.range", "RendezvousStore.init", "SlotBatch.distinct", "SlotBatch.init", "SlotDataset.dealt",
      "SlotDataset.parts", "SlotLoader.openDealt", "StepTrace.of");

  /** A program can name the parameters and results of whatever it can call. */
  @Test
  void signatures_of_the_public_api_name_the_public_api() {
    assertThat(PublicApi.types()).allSatisfy(type -> assertThat(regatta.contain(type)).as(type).isTrue());
    Set<String> leaks = api.leaks(regatta).stream()
        .map(member -> NOT_FOR_PROGRAMS.stream().filter(type -> member.startsWith(type + ".")).findFirst().orElse(member))
        .collect(Collectors.toCollection(TreeSet::new));
    assertThat(leaks).containsExactlyInAnyOrderElementsOf(NOT_FOR_PROGRAMS);
  }

  @Test
  void services_never_end_the_process() {
    ArchRule rule = noClasses().that(VERTICLES)
        .should().callMethod(System.class, "exit", int.class)
        .orShould().callMethod(Runtime.class, "halt", int.class);
    rule.check(regatta);
  }

  @Test
  void services_close_no_vertx() {
    ArchRule rule = noClasses().that(VERTICLES)
        .should().callMethod("io.vertx.core.Vertx", "close").allowEmptyShould(true);
    rule.check(regatta);
  }

  /** Each port and call of a process has its TLS and its token: nothing goes round them. */
  @Test
  void ports_and_calls_have_the_tls_and_the_token_of_their_process() {
    ArchRule rule = noClasses().that().resideOutsideOfPackages("io.regatta.protocol.security..",
            "io.regatta.protocol.vertx..", "io.regatta.load..")
        .should().callMethod(Vertx.class, "createHttpServer", HttpServerOptions.class)
        .orShould().callMethod(Vertx.class, "createHttpServer")
        .orShould().callMethod(LimitedVertx.class, "server", Vertx.class, HttpServerOptions.class, Supplier.class)
        .orShould().callConstructor(HttpServerImpl.class, VertxInternal.class, HttpServerOptions.class)
        .orShould().callConstructor(VertxNetwork.class, Vertx.class)
        .orShould().callConstructor(NodeConfig.class, ClusterConfig.class, AdminConfig.class, String.class, int.class, int.class,
            int.class, boolean.class);
    rule.check(regatta);
  }

  /** CVE-2026-6860 of vertx-core needs SNI at a server: .ci/known-faults.xml leaves its version for this reason. */
  @Test
  void no_server_chooses_its_certificate_by_the_clients_server_name() {
    noClasses().should().callMethod(HttpServerOptions.class, "setSni", boolean.class)
        .orShould().callMethod(NetServerOptions.class, "setSni", boolean.class)
        .orShould().dependOnClassesThat().haveNameMatching("io\\.netty\\.handler\\.ssl\\..*Sni.*").check(regatta);
  }

  /** Whatever waits, expires or dates something is given a clock, so that tests and simulations set the time. */
  @Test
  void one_package_reads_the_clocks_of_the_machine() {
    noClasses().that().resideOutsideOfPackages("io.regatta.protocol.vertx..", "io.regatta.load..", "io.regatta.*.testing..")
        .should().callMethod(System.class, "nanoTime")
        .orShould().callMethod(System.class, "currentTimeMillis")
        .orShould().callMethod(Instant.class, "now")
        .orShould().callMethod(LocalDateTime.class, "now").check(regatta);
  }

  @Test
  void threads_are_kept_by_a_clock() {
    noClasses().that().resideOutsideOfPackages("io.regatta.protocol.vertx..", "io.regatta.load..", "io.regatta.*.testing..")
        .should().callMethodWhere(target(name("sleep").or(nameStartingWith("park")))
            .and(target(owner(equivalentTo(Thread.class).or(equivalentTo(LockSupport.class)))))).check(regatta);
  }

  /**
   * Warnings there are about peers, whose words they quote. The service's own is about the configuration. A wait for
   * the start escapes what it quotes, and logs few lines.
   */
  @Test
  void warnings_of_groups_and_directories_are_bounded_and_escaped() {
    noClasses().that().resideInAnyPackage("io.regatta.node.group..", "io.regatta.node.directory..",
        "io.regatta.collective.join..", "io.regatta.rendezvous..").and().areNotAssignableTo(RendezvousService.class)
        .and().doNotHaveSimpleName("ReadyWait")
        .should().callMethodWhere(target(name("warn")).and(target(owner(equivalentTo(Logger.class))))).check(regatta);
  }

  /** Timers of the node are its own still. */
  @Test
  void timers_are_those_of_loops() {
    noClasses().that().resideOutsideOfPackages("io.regatta.protocol.vertx..", "io.regatta.node..", "io.regatta.load..")
        .should().callMethodWhere(target(name("setTimer").or(name("setPeriodic")).or(name("timer")))
            .and(target(owner(assignableTo(Vertx.class))))).check(regatta);
  }

  /** Verticles and what they own: one state, one owner, one loop. */
  @Test
  void servers_share_no_state_between_threads() {
    ArchRule maps = noClasses().that().resideInAnyPackage(SERVERS).or(VERTICLES)
        .should().dependOnClassesThat().areAssignableTo(ConcurrentMap.class)
        .orShould().dependOnClassesThat().resideInAPackage("java.util.concurrent.locks..");
    maps.check(regatta);
    ArchRule monitors = methods().that().areDeclaredInClassesThat().resideInAnyPackage(SERVERS)
        .should().notHaveModifier(JavaModifier.SYNCHRONIZED);
    monitors.check(regatta);
  }

  @Test
  void no_attics() {
    ArchRule rule = classes().that().resideOutsideOfPackages(GENERATED).should()
        .haveNameNotMatching(".*(Utils?|Helper|Manager|Impl)$").because("a name says what a class does");
    rule.check(regatta);
  }
}
