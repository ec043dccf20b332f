package io.regatta.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.cluster.ClusterState;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.nio.serialization.HazelcastSerializationException;
import com.hazelcast.spi.exception.TargetNotMemberException;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classes that another member can name. */
class MemberClassLoaderTest {

  private final ClassLoader loader = new MemberClassLoader(HazelcastInstance.class.getClassLoader());

  @Test
  void errorsAndTheStateOfAClusterAreAdmitted() throws Exception {
    for (Class<?> admitted : new Class<?>[] {HazelcastException.class, TargetNotMemberException.class, Throwable.class,
        NullPointerException.class, OutOfMemoryError.class, IOException.class, UUID.class, StackTraceElement[].class,
        ClusterState.class, Enum.class}) {
      assertThat(Class.forName(admitted.getName(), false, loader)).isSameAs(admitted);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"java.lang.ProcessBuilder", "java.lang.Runtime", "java.lang.invoke.SerializedLambda",
      "[Ljava.lang.ProcessBuilder;", "com.hazelcast.console.Echo", "com.hazelcast.config.Config",
      "java.util.PriorityQueue", "javax.management.BadAttributeValueExpException", "io.vertx.core.VertxException",
      "io.regatta.node.Node", "java.lang.reflect.UndeclaredThrowableException", "there.is.no.such.Type"})
  void everythingElseIsRefused_soThatNoOtherClassLoaderIsAsked(String name) {
    assertThatThrownBy(() -> Class.forName(name, false, loader)).isInstanceOf(HazelcastSerializationException.class);
  }
}
