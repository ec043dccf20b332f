package io.regatta.fleet;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.regatta.trainer.TrainingProgram;
import io.vertx.core.Verticle;

/** The dependency rules of docs/architecture.md, over all modules. */
@AnalyzeClasses(packages = "io.regatta", importOptions = DoNotIncludeTests.class)
class DependencyRulesTest {

  private static final DescribedPredicate<JavaClass> VERTICLE =
      JavaClass.Predicates.assignableTo(Verticle.class)
          .or(JavaClass.Predicates.assignableTo("io.vertx.core.VerticleBase"));

  /** load-tests → fleet → four services → node → shared-protocol → core; no service sees another. */
  @ArchTest
  static final ArchRule dependencies_point_one_way = layeredArchitecture().consideringOnlyDependenciesInLayers()
      .layer("core").definedBy("io.regatta.core..")
      .layer("shared-protocol").definedBy("io.regatta.protocol..")
      .layer("node").definedBy("io.regatta.node..")
      .layer("rendezvous").definedBy("io.regatta.rendezvous..")
      .layer("parameter-server").definedBy("io.regatta.parameterserver..")
      .layer("gradient-aggregator").definedBy("io.regatta.aggregator..")
      .layer("trainer").definedBy("io.regatta.trainer..")
      .layer("fleet").definedBy("io.regatta.fleet..")
      .whereLayer("core").mayNotAccessAnyLayer()
      .whereLayer("shared-protocol").mayOnlyAccessLayers("core")
      .whereLayer("node").mayOnlyAccessLayers("core", "shared-protocol")
      .whereLayer("rendezvous").mayOnlyAccessLayers("core", "shared-protocol", "node")
      .whereLayer("parameter-server").mayOnlyAccessLayers("core", "shared-protocol", "node")
      .whereLayer("gradient-aggregator").mayOnlyAccessLayers("core", "shared-protocol", "node")
      .whereLayer("trainer").mayOnlyAccessLayers("core", "shared-protocol", "node")
      .whereLayer("fleet").mayNotBeAccessedByAnyLayer();

  @ArchTest
  static final ArchRule core_is_plain_java = noClasses().that().resideInAPackage("io.regatta.core..")
      .should().dependOnClassesThat()
      .resideInAnyPackage("io.vertx..", "io.netty..", "ai.djl..", "com.hazelcast..", "com.google.protobuf..");

  @ArchTest
  static final ArchRule only_the_trainer_sees_djl = noClasses().that()
      .resideOutsideOfPackages("io.regatta.trainer..", "io.regatta.fleet..")
      .should().dependOnClassesThat().resideInAPackage("ai.djl..");

  @ArchTest
  static final ArchRule only_the_node_sees_hazelcast = noClasses().that().resideOutsideOfPackage("io.regatta.node..")
      .should().dependOnClassesThat().resideInAnyPackage("com.hazelcast..", "io.vertx.spi.cluster..");

  /** Built-in programs use nothing that a user's program could not. */
  @ArchTest
  static final ArchRule programs_use_the_public_api = noClasses().that()
      .resideInAPackage("io.regatta.trainer.program..").or().implement(TrainingProgram.class)
      .should().dependOnClassesThat(DescribedPredicate.describe("belong to Regatta and are not public",
          (JavaClass c) -> c.getPackageName().startsWith("io.regatta")
              && !c.getPackageName().startsWith("io.regatta.trainer.program")
              && !c.getPackageName().startsWith("io.regatta.fleet")
              && !c.getModifiers().contains(com.tngtech.archunit.core.domain.JavaModifier.PUBLIC)))
      .allowEmptyShould(true);

  @ArchTest
  static final ArchRule services_never_end_the_process = noClasses().that(VERTICLE)
      .should().callMethod(System.class, "exit", int.class)
      .orShould().callMethod(Runtime.class, "halt", int.class);

  @ArchTest
  static final ArchRule services_close_no_vertx = noClasses().that(VERTICLE)
      .should().callMethod("io.vertx.core.Vertx", "close").allowEmptyShould(true);

  @ArchTest
  static final ArchRule nobody_sleeps = noClasses().should().callMethod(Thread.class, "sleep", long.class);

  @ArchTest
  static final ArchRule verticles_hold_no_concurrent_maps = noClasses().that(VERTICLE)
      .should().dependOnClassesThat().areAssignableTo("java.util.concurrent.ConcurrentMap");

  @ArchTest
  static final ArchRule no_attics = classes().should()
      .haveNameNotMatching(".*(Utils?|Helper|Manager|Impl)$").because("a name says what a class does")
      .allowEmptyShould(true);
}
