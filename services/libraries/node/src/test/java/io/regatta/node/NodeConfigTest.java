package io.regatta.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.settings.Secret;
import io.regatta.node.settings.Settings;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeConfigTest {

  /** A copy with another host must keep the token. */
  @Test
  void what_is_the_same_but_for_one_thing_is_the_same_but_for_that() throws ReflectiveOperationException {
    NodeConfig d = Settings.defaults(NodeConfig.class);
    NodeConfig all = d.with(c -> c.host("10.0.0.7").readyTimeoutSeconds(7).longWaitSeconds(8).eventLoops(2)
        .vertxMetrics(true).bind("0.0.0.0").token(new Secret("a token of sixteen"))
        .security(new SecurityConfig(true, "", 0)).connections(new ConnectionsConfig(9, 3, 4000)));
    Map<NodeConfig, String> changed = Map.of(all.withHost("10.0.0.8"), "host", all.withReadyTimeoutSeconds(9), "readyTimeoutSeconds",
        all.withCluster(ClusterConfig.fixed(Map.of("rendezvous", "10.0.0.9:7"))), "cluster");
    for (Map.Entry<NodeConfig, String> one : changed.entrySet()) {
      for (RecordComponent component : NodeConfig.class.getRecordComponents()) {
        Object before = component.getAccessor().invoke(all);
        Object now = component.getAccessor().invoke(one.getKey());
        assertThat(now.equals(before)).as(component.getName()).isEqualTo(!component.getName().equals(one.getValue()));
      }
    }
  }
}
