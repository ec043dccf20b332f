package io.regatta.node.cluster;

import com.hazelcast.internal.dynamicconfig.ClusterWideConfigurationService;
import com.hazelcast.internal.dynamicconfig.ConfigCheckMode;
import com.hazelcast.internal.dynamicconfig.EmptyDynamicConfigListener;
import com.hazelcast.internal.serialization.InternalSerializationService;
import com.hazelcast.internal.serialization.impl.AbstractSerializationService;
import com.hazelcast.internal.serialization.impl.SerializationConstants;
import com.hazelcast.internal.serialization.impl.SerializerAdapter;
import com.hazelcast.nio.serialization.IdentifiedDataSerializable;
import com.hazelcast.spi.impl.NodeEngine;
import io.regatta.protocol.connection.PeerLog;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * Removal of the two ways in which a Hazelcast member would create objects of classes that another member names without
 * asking its {@link MemberClassLoader}. Stateless, any thread.
 */
final class MemberSerialization {

  private static final PeerLog LOG = new PeerLog(LoggerFactory.getLogger(MemberSerialization.class));
  /**
   * Serializers by the number that stands before what they read, and by the class of what they write; both without
   * those of Java's own types. Hazelcast registers one by its number as well when it writes with it.
   */
  private static final List<String> SERIALIZERS = List.of("idMap", "typeMap");
  /** Errors, by Java's serialization, and JSON, which is text: an application that shares its cluster may have both. */
  private static final Set<Integer> NEEDED = Set.of(SerializationConstants.JAVA_DEFAULT_TYPE_SERIALIZABLE,
      SerializationConstants.JAVASCRIPT_JSON_SERIALIZATION_TYPE);

  private MemberSerialization() {}

  /**
   * Removes all serializers but those of Java's own types and those that are needed. One of Jet's reads any Java object
   * through the class loader of the thread, without a filter. Jet is off, but Hazelcast has no setting for its
   * serializers.
   */
  static InternalSerializationService restrict(InternalSerializationService service) {
    try {
      for (String name : SERIALIZERS) {
        Field serializers = AbstractSerializationService.class.getDeclaredField(name);
        serializers.setAccessible(true);
        ((Map<?, ?>) serializers.get(service)).values()
            .removeIf(serializer -> !NEEDED.contains(((SerializerAdapter) serializer).getTypeId()));
      }
      return service;
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalStateException("Hazelcast " + HazelcastMember.version() + " keeps its serializers in another "
          + "way than MemberSerialization knows: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the service that takes configurations of data structures which other members send. It ignores them: some
   * name a class that is made through Hazelcast's own class loader.
   */
  static ClusterWideConfigurationService ignoringConfigurations(NodeEngine engine) {
    return new ClusterWideConfigurationService(engine, new EmptyDynamicConfigListener()) {
      @Override
      public void registerConfigLocally(IdentifiedDataSerializable config, ConfigCheckMode mode) {
        LOG.warn("a {} that a member of the Hazelcast cluster has sent is ignored: this process takes no configuration "
            + "from others. Find out which other program is a member, and close Hazelcast's port to it "
            + "(docs/security.md)", config.getClass().getSimpleName());
      }
    };
  }
}
