package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The services' log configuration, which tests use as well. */
class ServiceLoggingTest {

  @Test
  void warningsOfHazelcastDoNotReachTheUser() {
    assertThat(List.of("com.hazelcast.spi.impl.operationservice.OperationService",
        "com.hazelcast.internal.partition.InternalPartitionService", "com.hazelcast.map.impl.operation.PutOperation",
        "com.hazelcast.internal.cluster.impl.operations.FinalizeJoinOp"))
        .noneMatch(name -> LoggerFactory.getLogger(name).isWarnEnabled())
        .allMatch(name -> LoggerFactory.getLogger(name).isErrorEnabled());
    assertThat(List.of("com.hazelcast.instance.impl.Node", "com.hazelcast.cluster", "com.hazelcast.security"))
        .as("that it could not join we say ourselves").noneMatch(name -> LoggerFactory.getLogger(name).isErrorEnabled());
  }
}
