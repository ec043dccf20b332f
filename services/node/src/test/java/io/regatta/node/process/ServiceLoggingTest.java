package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The services' log configuration, which tests use as well. */
class ServiceLoggingTest {

  @Test
  void whatHazelcastSaysWhenSeveralMembersStopAtOnceIsNoNews() {
    assertThat(List.of("com.hazelcast.spi.impl.operationservice.OperationService",
        "com.hazelcast.internal.partition.InternalPartitionService"))
        .noneMatch(name -> LoggerFactory.getLogger(name).isWarnEnabled())
        .allMatch(name -> LoggerFactory.getLogger(name).isErrorEnabled());
    assertThat(LoggerFactory.getLogger("com.hazelcast.instance.impl.Node").isErrorEnabled())
        .as("that it could not join we say ourselves").isFalse();
    assertThat(LoggerFactory.getLogger("com.hazelcast.config").isWarnEnabled()).isTrue();
  }
}
