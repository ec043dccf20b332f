package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1Job;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PersistentVolume;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.regatta.fleet.process.JobFile;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.fleet.role.RoleEnvironment;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** deploy/kubernetes, as far as it can be tried without a cluster: by the API's types, and by Regatta's own settings. */
class KubernetesTest {

  private static final Path ROOT = Checkout.file("deploy/kubernetes");
  private static final Map<String, Class<?>> API = Map.ofEntries(Map.entry("v1 Namespace", V1Namespace.class),
      Map.entry("v1 Service", V1Service.class), Map.entry("v1 ServiceAccount", V1ServiceAccount.class),
      Map.entry("v1 PersistentVolume", V1PersistentVolume.class),
      Map.entry("v1 PersistentVolumeClaim", V1PersistentVolumeClaim.class),
      Map.entry("rbac.authorization.k8s.io/v1 Role", V1Role.class),
      Map.entry("rbac.authorization.k8s.io/v1 RoleBinding", V1RoleBinding.class),
      Map.entry("apps/v1 StatefulSet", V1StatefulSet.class), Map.entry("batch/v1 Job", V1Job.class),
      Map.entry("policy/v1 PodDisruptionBudget", V1PodDisruptionBudget.class),
      Map.entry("networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy.class));

  static Stream<Kustomized> builds() {
    return Stream.of(built("overlays/ps"), built("overlays/ps-tls"), built("overlays/collective-tls"),
        built("overlays/ps-small"), built("overlays/collective-small"), built("overlays/collective", "components/aggregators"),
        built("overlays/collective", "components/aggregators", "components/tls"),
        built("overlays/ps", "components/object-store"), built("overlays/ps", "components/heter"),
        built("overlays/ps", "components/heter", "components/tls"));
  }

  private static Kustomized built(String... directories) {
    return Kustomized.of(Stream.of(directories).map(ROOT::resolve).toArray(Path[]::new));
  }

  /** Refuses unknown and missing fields, and values of other types, at every depth. */
  private static Object parsed(JsonObject object) {
    Class<?> type = API.get(object.getString("apiVersion") + " " + object.getString("kind"));
    assertThat(type).as(object.encode()).isNotNull();
    return JSON.getGson().fromJson(object.encode(), type);
  }

  @ParameterizedTest
  @MethodSource("builds")
  void objects_are_the_apis(Kustomized built) {
    assertThat(built.objects()).isNotEmpty().allSatisfy(object -> assertThat(parsed(object)).isNotNull());
  }

  @Test
  void a_slip_would_be_noticed() {
    JsonObject server = built("overlays/ps").objects("StatefulSet").get(1);
    JsonObject misspelt = server.copy();
    new Pod(misspelt).container().getJsonObject("securityContext").put("readOnlyRootFileSystem", true);
    assertThatThrownBy(() -> parsed(misspelt)).hasMessageContaining("readOnlyRootFileSystem");
    JsonObject missing = server.copy();
    missing.getJsonObject("spec").remove("selector");
    assertThatThrownBy(() -> parsed(missing)).hasMessageContaining("selector");
    JsonObject wrong = server.copy();
    wrong.getJsonObject("spec").put("replicas", "two");
    assertThatThrownBy(() -> parsed(wrong)).hasMessageContaining("two");
  }

  @Test
  void every_file_is_a_part_of_something() throws IOException {
    Set<Path> used = builds().flatMap(built -> built.files().stream()).collect(Collectors.toCollection(TreeSet::new));
    try (Stream<Path> all = Files.walk(ROOT)) {
      assertThat(all.filter(Files::isRegularFile)).allSatisfy(file -> assertThat(used).contains(file));
    }
  }

  @ParameterizedTest
  @MethodSource("builds")
  void names_lead_somewhere(Kustomized built) {
    List<Pod> pods = Pod.all(built);
    for (Pod pod : pods) {
      for (JsonObject volume : pod.volumes().values()) {
        if (volume.containsKey("configMap")) {
          assertThat(built.configMaps()).containsKey(volume.getJsonObject("configMap").getString("name"));
        }
        if (volume.containsKey("persistentVolumeClaim")) {
          assertThat(built.names("PersistentVolumeClaim"))
              .contains(volume.getJsonObject("persistentVolumeClaim").getString("claimName"));
        }
      }
      assertThat(pod.volumes().keySet()).as(pod.name()).containsExactlyInAnyOrderElementsOf(pod.mounts().values());
      assertThat(pod.probes()).isNotEmpty().allSatisfy(probe -> assertThat(pod.ports()).containsKey(probe.getString("port")));
    }
    for (JsonObject set : built.objects("StatefulSet")) {
      JsonObject spec = set.getJsonObject("spec");
      assertThat(built.names("Service")).contains(spec.getString("serviceName"));
      assertThat(new Pod(set).selectedBy(spec.getJsonObject("selector").getJsonObject("matchLabels"))).isTrue();
    }
    for (JsonObject service : built.objects("Service")) {
      JsonObject spec = service.getJsonObject("spec");
      List<Pod> behind = pods.stream().filter(pod -> pod.selectedBy(spec.getJsonObject("selector"))).toList();
      assertThat(behind).as(service.encode()).isNotEmpty().allSatisfy(pod -> assertThat(pod.ports())
          .containsKey(Kustomized.objects(spec, "ports").get(0).getString("targetPort")));
    }
    for (JsonObject budget : built.objects("PodDisruptionBudget")) {
      JsonObject labels = budget.getJsonObject("spec").getJsonObject("selector").getJsonObject("matchLabels");
      assertThat(pods.stream().filter(pod -> pod.selectedBy(labels))).as(budget.encode()).hasSize(1);
    }
  }

  /**
   * Every rule names its peers, for one without them admits everybody. Besides each other, pods are reached by
   * Prometheus at the admin port and reach DNS; the object store is a choice.
   */
  @ParameterizedTest
  @MethodSource("builds")
  void pods_talk_to_each_other_to_prometheus_and_to_dns_alone(Kustomized built) {
    Set<String> opened = new TreeSet<>();
    for (JsonObject policy : built.objects("NetworkPolicy")) {
      if (policy.equals(built.object("NetworkPolicy", "regatta-token"))) {
        continue; // of the pod that makes the token
      }
      JsonObject spec = policy.getJsonObject("spec");
      for (String direction : List.of("ingress", "egress")) {
        for (JsonObject rule : Kustomized.objects(spec, direction)) {
          List<JsonObject> peers = Kustomized.objects(rule, direction.equals("ingress") ? "from" : "to");
          assertThat(peers).as("%s admits everybody", rule.encode()).isNotEmpty();
          Set<String> ports = Kustomized.objects(rule, "ports").stream().map(port -> port.getValue("port").toString())
              .collect(Collectors.toCollection(TreeSet::new));
          String which = ports.isEmpty() ? "all ports" : ports.toString();
          peers.forEach(peer -> opened.add(direction + " " + peer(peer) + " " + which));
        }
      }
    }
    Set<String> expected = new TreeSet<>(Set.of("ingress regatta all ports", "ingress monitoring/prometheus [admin]",
        "egress regatta all ports", "egress kube-system/kube-dns [53]"));
    if (built.toString().contains("object-store")) {
      expected.add("egress 0.0.0.0/0 [443]");
    }
    assertThat(opened).isEqualTo(expected);
    JsonObject all = built.object("NetworkPolicy", "regatta").getJsonObject("spec");
    assertThat(all.getJsonArray("policyTypes")).containsExactlyInAnyOrder("Ingress", "Egress");
    JsonObject selected = all.getJsonObject("podSelector").getJsonObject("matchLabels");
    assertThat(Pod.all(built)).allMatch(pod -> pod.selectedBy(selected))
        .allSatisfy(pod -> assertThat(pod.ports()).containsKey("admin"));
  }

  /** A peer in words: an application's pods, of this namespace or of another, or addresses that are not private. */
  private static String peer(JsonObject peer) {
    if (peer.containsKey("ipBlock")) {
      JsonObject block = peer.getJsonObject("ipBlock");
      assertThat(block.getJsonArray("except").getList())
          .contains("10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16");
      return block.getString("cidr");
    }
    JsonObject pods = peer.getJsonObject("podSelector").getJsonObject("matchLabels");
    assertThat(pods.fieldNames()).as("%s selects by one label", peer.encode()).hasSize(1);
    String application = pods.getString(pods.fieldNames().iterator().next());
    JsonObject namespace = peer.getJsonObject("namespaceSelector");
    return namespace == null ? application
        : namespace.getJsonObject("matchLabels").getString("kubernetes.io/metadata.name") + "/" + application;
  }

  /** Pod Security's "restricted", and a root that nobody writes to. */
  @ParameterizedTest
  @MethodSource("builds")
  void pods_may_do_no_more_than_they_must(Kustomized built) {
    assertThat(Pod.all(built)).isNotEmpty().allSatisfy(pod -> {
      JsonObject all = pod.spec().getJsonObject("securityContext");
      assertThat(all.getBoolean("runAsNonRoot")).isTrue();
      assertThat(all.getJsonObject("seccompProfile").getString("type")).isEqualTo("RuntimeDefault");
      JsonObject own = pod.container().getJsonObject("securityContext");
      assertThat(own.getBoolean("readOnlyRootFilesystem")).isTrue();
      assertThat(own.getBoolean("allowPrivilegeEscalation")).isFalse();
      assertThat(own.getJsonObject("capabilities").getJsonArray("drop")).containsExactly("ALL");
      assertThat(pod.spec().getBoolean("automountServiceAccountToken")).isFalse();
      assertThat(pod.spec().getBoolean("enableServiceLinks")).isFalse();
      assertThat(pod.container().getJsonObject("resources").getJsonObject("limits").getString("memory")).isNotEmpty();
      assertThat(pod.mounts()).containsKey("/tmp");
    });
  }

  /** As the pod's process reads it, but for a job's own variables of {@code REGATTA_}, of which there are none. */
  private static RoleEnvironment part(Pod pod) {
    return pod.args().get(0).equals("run") ? RoleEnvironment.read(pod.environment()) : RoleEnvironment.NONE;
  }

  private static ProcessSettings place(Kustomized built, Pod pod) {
    Map<String, String> environment = Checkout.imageVariables();
    environment.putAll(pod.environment());
    return ProcessSettings.load(Settings.Sources.NONE
        .with(s -> s.file(pod.file(built, pod.option("-conf"))).variables(part(pod).options()).environment(environment)));
  }

  private static JobConfig job(Kustomized built, Pod pod) {
    return JobFile.load(pod.file(built, pod.option("run")), pod.environment(), part(pod).options(), List.of(),
        List.of(), new JsonObject());
  }

  @ParameterizedTest
  @MethodSource("builds")
  void settings_are_what_regatta_takes(Kustomized built) {
    for (Pod pod : Pod.all(built)) {
      ProcessSettings place = place(built, pod);
      NodeConfig node = place.node();
      switch (pod.args().get(0)) {
        case "rendezvous" -> assertThat(place.rendezvous()).isNotNull();
        case "aggregator" -> assertThat(place.gradientAggregator()).isNotNull();
        default -> {
          JobConfig job = job(built, pod);
          if (place.fleet().role() == Role.HETER_WORKER) {
            assertThat(pod.owner().getJsonObject("spec").getInteger("replicas")).isEqualTo(job.heter().workers());
            assertThat(place.fleet().id()).isZero();
            JobConfig trainers = job(built, new Pod(built.object("Job", "regatta-trainers")));
            assertThat(trainers.with(j -> j.runId(job.runId()))).isEqualTo(job);
          } else if (place.fleet().role() == Role.TRAINER) {
            assertThat(place.trainer(job).rank()).isEqualTo(pod.indexed() ? 0 : -1);
          } else {
            assertThat(place.parameterServer(job).index()).isZero();
          }
          assertThat(pod.mounts().containsKey("/output")).isEqualTo(place.fleet().role() != Role.HETER_WORKER);
          assertThat(job.output()).startsWith("/output/");
        }
      }
      assertThat(node.admin().port()).as("port of the probes of %s", pod.name()).isEqualTo(pod.ports().get("admin"));
      assertThat(node.cluster().port()).as("port of %s", pod.name()).isEqualTo(pod.ports().getOrDefault("hazelcast", 0));
      for (HostPort seed : node.cluster().seedMembers()) {
        assertThat(built.names("Service")).contains(seed.host());
        JsonObject service = built.objects("Service").get(built.names("Service").indexOf(seed.host())).getJsonObject("spec");
        assertThat(seed.port()).isEqualTo(Kustomized.objects(service, "ports").get(0).getInteger("port"));
        assertThat(node.cluster().port() == seed.port() && pod.selectedBy(service.getJsonObject("selector")))
            .as("%s founds a cluster of its own", pod.name()).isEqualTo(pod.name().equals("regatta-rendezvous"));
      }
    }
  }

  /**
   * All pods have the token, and all of a job or none have TLS, from files of Secrets; probes speak what the admin port
   * speaks.
   */
  @ParameterizedTest
  @MethodSource("builds")
  void all_pods_have_the_token_and_all_or_none_have_tls(Kustomized built) {
    boolean secured = built.toString().contains("tls");
    assertThat(Pod.all(built)).isNotEmpty().allSatisfy(pod -> {
      NodeConfig node = place(built, pod).node();
      List<String> files = new ArrayList<>(List.of(node.tls().certificate(), node.tls().key(), node.tls().ca()));
      if (!secured) {
        assertThat(files).containsOnly("");
        files.clear();
      }
      files.add(node.tokenFile());
      assertThat(files).containsExactlyInAnyOrderElementsOf(pod.secrets());
      assertThat(node.tls().mutual()).isTrue();
      assertThat(node.tls().verifyHost()).as("addresses of pods are in no certificate").isEqualTo(!secured);
      assertThat(pod.probes()).extracting(probe -> probe.getString("scheme", "HTTP")).containsOnly(secured ? "HTTPS" : "HTTP");
    });
  }

  /**
   * One pod makes the Secret that all others wait for. It may create Secrets and nothing else; it reaches the ports of an
   * API server, and nobody reaches it. It carries no label of Regatta's services, whose policy would admit it.
   */
  @ParameterizedTest
  @MethodSource("builds")
  void the_token_is_made_by_a_pod_that_may_do_nothing_else(Kustomized built) {
    Pod pod = Pod.ofToken(built);
    assertThat(pod.container().getJsonArray("command")).containsExactly("/opt/regatta/make-token-secret", "regatta-token");
    assertThat(Checkout.file("deploy/image/make-token-secret")).isExecutable();
    assertThat(Pod.all(built)).allSatisfy(of -> assertThat(of.waitsFor()).contains("regatta-token"));
    JsonObject account = built.object("ServiceAccount", "regatta-token");
    assertThat(account.getBoolean("automountServiceAccountToken")).isFalse();
    assertThat(pod.spec().getString("serviceAccountName")).isEqualTo("regatta-token");
    assertThat(pod.spec().getBoolean("automountServiceAccountToken")).isTrue();
    assertThat(built.objects("Role")).hasSize(1);
    List<JsonObject> rules = Kustomized.objects(built.objects("Role").get(0), "rules");
    assertThat(rules).containsExactly(new JsonObject().put("apiGroups", List.of("")).put("resources", List.of("secrets"))
        .put("verbs", List.of("create")));
    JsonObject policy = built.object("NetworkPolicy", "regatta-token").getJsonObject("spec");
    assertThat(pod.selectedBy(policy.getJsonObject("podSelector").getJsonObject("matchLabels"))).isTrue();
    assertThat(policy.getJsonArray("policyTypes")).containsExactlyInAnyOrder("Ingress", "Egress");
    assertThat(policy.containsKey("ingress")).isFalse();
    assertThat(Kustomized.objects(policy, "egress")).singleElement().satisfies(rule -> assertThat(
        Kustomized.objects(rule, "ports")).extracting(port -> port.getInteger("port")).containsExactly(443, 6443, 8443, 16443));
    JsonObject services = built.object("NetworkPolicy", "regatta").getJsonObject("spec").getJsonObject("podSelector");
    assertThat(pod.selectedBy(services.getJsonObject("matchLabels"))).isFalse();
    JsonObject own = pod.container().getJsonObject("securityContext");
    assertThat(own.getBoolean("readOnlyRootFilesystem")).isTrue();
    assertThat(own.getBoolean("allowPrivilegeEscalation")).isFalse();
    assertThat(own.getJsonObject("capabilities").getJsonArray("drop")).containsExactly("ALL");
    assertThat(pod.spec().getJsonObject("securityContext").getBoolean("runAsNonRoot")).isTrue();
  }

  /** A new Job is a new run, and all pods of one Job are of one. */
  @ParameterizedTest
  @MethodSource("builds")
  void run_id_of_trainers_is_the_uid_of_their_job(Kustomized built) {
    JsonObject uid = new JsonObject().put("name", "REGATTA_RUN_ID").put("valueFrom", new JsonObject().put("fieldRef",
        new JsonObject().put("fieldPath", "metadata.labels['batch.kubernetes.io/controller-uid']")));
    assertThat(Pod.all(built)).allSatisfy(pod -> assertThat(Kustomized.objects(pod.container(), "env").contains(uid))
        .as(pod.name()).isEqualTo(pod.owner().getString("kind").equals("Job")));
  }

  @Test
  void numbers_of_a_job_with_servers_agree() {
    Kustomized built = built("overlays/ps");
    for (Pod pod : Pod.all(built)) {
      JsonObject spec = pod.owner().getJsonObject("spec");
      if (pod.name().equals("regatta-server")) {
        assertThat(spec.getInteger("replicas")).isEqualTo(job(built, pod).servers());
      } else if (pod.name().equals("regatta-trainers")) {
        assertThat(spec.getInteger("completions")).isEqualTo(spec.getInteger("parallelism")).isEqualTo(job(built, pod).trainers());
      }
    }
  }

  @Test
  void numbers_of_an_elastic_job_agree() {
    Kustomized built = built("overlays/collective");
    Pod trainers = new Pod(built.object("Job", "regatta-trainers"));
    JobConfig job = job(built, trainers);
    assertThat(job.worldSize().elastic()).isTrue();
    assertThat(trainers.owner().getJsonObject("spec").getInteger("parallelism")).isBetween(job.collective().minTrainers(),
        job.trainers());
    assertThat(built.objects("PodDisruptionBudget")).anySatisfy(budget -> assertThat(budget.getJsonObject("spec")
        .getInteger("minAvailable")).isEqualTo(job.collective().minTrainers()));
  }

  /** A tag {@code latest} is pulled at each start, which fails for an image that only the node has. */
  @ParameterizedTest
  @MethodSource("builds")
  void image_is_tagged_with_the_version_of_the_project(Kustomized built) throws IOException {
    Matcher version = Pattern.compile("<artifactId>regatta-parent</artifactId>\\s*<version>([^<]+)</version>")
        .matcher(Files.readString(Checkout.file("pom.xml")));
    assertThat(version.find()).isTrue();
    assertThat(built.tags()).containsExactly(version.group(1));
    assertThat(Files.readString(Checkout.file("docs/deploying.md"))).contains("-t regatta:" + version.group(1) + " ");
  }

  static Stream<Kustomized> small() {
    return Stream.of(built("overlays/ps-small"), built("overlays/collective-small"),
        built("overlays/collective", "components/aggregators", "components/small"),
        built("overlays/ps", "components/heter", "components/small"));
  }

  /** Two cores less what the system's pods of a small distribution request, and four trainers of an elastic job. */
  @ParameterizedTest
  @MethodSource("small")
  void small_pods_fit_a_node_of_2_cores_and_6_gib(Kustomized built) {
    BigDecimal cores = BigDecimal.ZERO;
    BigDecimal bytes = BigDecimal.ZERO;
    for (Pod pod : Pod.all(built)) {
      JsonObject spec = pod.owner().getJsonObject("spec");
      int pods = spec.getInteger("replicas", spec.getInteger("completions", 4));
      cores = cores.add(pod.request("cpu").multiply(BigDecimal.valueOf(pods)));
      bytes = bytes.add(pod.request("memory").multiply(BigDecimal.valueOf(pods)));
    }
    assertThat(cores).isLessThanOrEqualTo(BigDecimal.ONE);
    assertThat(bytes).isLessThanOrEqualTo(BigDecimal.valueOf(5L << 30));
  }

  @ParameterizedTest
  @ValueSource(strings = {"overlays/ps-small", "overlays/collective-small"})
  void claim_of_a_small_node_takes_the_volume_that_is_made_for_it(String overlay) {
    Kustomized built = built(overlay);
    JsonObject volume = built.objects("PersistentVolume").get(0);
    JsonObject claim = built.objects("PersistentVolumeClaim").get(0);
    JsonObject wanted = claim.getJsonObject("spec");
    JsonObject offered = volume.getJsonObject("spec");
    assertThat(wanted.getString("volumeName")).isEqualTo(volume.getJsonObject("metadata").getString("name"));
    assertThat(offered.getJsonObject("claimRef").getString("name")).isEqualTo(claim.getJsonObject("metadata").getString("name"));
    assertThat(offered.getJsonObject("claimRef").getString("namespace")).isEqualTo(built.names("Namespace").get(0));
    assertThat(wanted.getString("storageClassName")).isEqualTo(offered.getString("storageClassName")).isEmpty();
    assertThat(offered.getJsonArray("accessModes")).containsAll(wanted.getJsonArray("accessModes"));
    assertThat(offered.getJsonObject("capacity").getString("storage"))
        .isEqualTo(wanted.getJsonObject("resources").getJsonObject("requests").getString("storage"));
  }
}
