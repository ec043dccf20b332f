package io.regatta.trainer;

import io.regatta.collective.Rendezvous;
import io.regatta.collective.join.ServiceRendezvous;
import io.regatta.collective.join.StoreRendezvous;
import io.regatta.collective.join.Timing;
import io.regatta.collective.store.EtcdStore;
import io.regatta.collective.store.FileStore;
import io.regatta.collective.store.HazelcastStore;
import io.regatta.collective.store.HttpStore;
import io.regatta.collective.store.Store;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.member.VertxMember;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.MeetingStore;
import io.vertx.core.Future;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rendezvous of the trainers of a collective job, as {@code collective.store} configures it. Opened and closed on
 * the event loop of its {@link TrainerVerticle}.
 *
 * @param store through which the rendezvous works; null: none
 * @param host at which the others reach this trainer
 */
record MeetingPlace(Rendezvous rendezvous, Store store, String host) {
  private static final Logger LOG = LoggerFactory.getLogger(MeetingPlace.class);
  private static final long POLL_MILLIS = 100;
  private static final int LOOKS_PER_LEASE = 4;

  /**
   * Returns the rendezvous of a job with a fixed number of trainers, whose group has formed at the rendezvous service.
   */
  static MeetingPlace gathered(Node node, GroupMembership group, JobConfig job, String who) {
    return new MeetingPlace(new GatheredRendezvous(node, group, job, who), null, node.host());
  }

  /**
   * Opens the rendezvous of an elastic job.
   *
   * @param service from the directory; null if the job uses a store
   */
  static Future<MeetingPlace> open(Node node, JobConfig job, Directory.Instance service) {
    MeetingStore at = job.collective().meeting();
    return switch (at.kind()) {
      case SERVICE -> Future.succeededFuture(new MeetingPlace(new ServiceRendezvous(node, service), null, node.host()));
      case FILE -> {
        Store files = new FileStore(node.vertx(), at.directory());
        yield Future.succeededFuture(over(node, job, files, files.under(job.job()), node.host()));
      }
      case HTTP -> hostToward(node, at.server()).map(host -> {
        Store server = HttpStore.gloo(node.vertx(), at.server(), job.job(), node.security());
        return over(node, job, server, server, host);
      });
      case ETCD -> hostToward(node, at.etcd().remote()).map(host -> {
        Store etcd = new EtcdStore(node.vertx(), at.etcd(), node.security());
        return over(node, job, etcd, etcd.under(job.job()), host);
      });
      case HAZELCAST -> {
        if (VertxMember.address(node.vertx()).isEmpty()) {
          yield Future.failedFuture(new InvalidInput("job " + job.job() + ": collective.store is hazelcast, but this process is not a member "
              + "of a Hazelcast cluster; set node.cluster.directory: hazelcast, and seeds, or choose another store (docs/launching.md)"));
        }
        Store map = new HazelcastStore(node.vertx(), node.security());
        yield Future.succeededFuture(over(node, job, map, map.under(job.job()), node.host()));
      }
    };
  }

  private static MeetingPlace over(Node node, JobConfig job, Store store, Store scope, String host) {
    Duration lease = Duration.ofMillis(Math.max(LOOKS_PER_LEASE, job.collective().failureTimeoutMs()));
    Duration poll = Duration.ofMillis(Math.min(POLL_MILLIS, lease.toMillis() / LOOKS_PER_LEASE));
    boolean majority = switch (job.collective().quorum()) {
      case AUTO -> scope.canBeSplit();
      case MAJORITY -> true;
      case NONE -> false;
    };
    LOG.info("the trainers of job {} find each other through the {}; this one is reached at {}", job.job(), scope, host);
    return new MeetingPlace(new StoreRendezvous(node.vertx(), scope, new Timing(poll, lease), node.waits(), majority), store, host);
  }

  /**
   * Returns the node's own host, or the local address that routes to the server, because a node may know no other
   * address there. Resolves names.
   */
  private static Future<String> hostToward(Node node, HostPort server) {
    return !node.config().host().isBlank() ? Future.succeededFuture(node.host()) : node.vertx().executeBlocking(() ->
        PublishedAddress.toward(node.config().cluster().address(), server).address());
  }

  /** Leaves before the trainer has a seat, so that the others do not wait for the end of its lease. */
  Future<Void> leave() {
    return rendezvous.leave();
  }

  Future<Void> close() {
    return rendezvous.close().eventually(() -> store == null ? Future.succeededFuture() : store.close());
  }
}
