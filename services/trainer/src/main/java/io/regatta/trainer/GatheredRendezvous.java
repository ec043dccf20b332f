package io.regatta.trainer;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Rendezvous;
import io.regatta.collective.Seat;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.gather.PeerEndpoint;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rendezvous of the trainers of a job that is not elastic. They are members of its group at the rendezvous service
 * already, and gather there once the endpoints at which they are reached. Called on the event loop of
 * {@link TrainerVerticle}.
 */
final class GatheredRendezvous implements Rendezvous {

  private static final String KEY = "collective endpoints";

  private final Node node;
  private final io.regatta.node.group.GroupMembership group;
  private final JobConfig job;
  private final String who;

  /**
   * Creates a rendezvous; gathers nothing yet.
   *
   * @param group that this trainer has joined, and which it leaves itself
   * @param job all of whose trainers must join
   * @param who for messages
   */
  GatheredRendezvous(Node node, io.regatta.node.group.GroupMembership group, JobConfig job, String who) {
    this.node = node;
    this.group = group;
    this.job = job;
    this.who = who;
  }

  @Override
  public Future<Seat> join(Joining joining) {
    return aggregators()
        .compose(sums -> group.gather(KEY, PeerEndpoint.newBuilder().setGeneration(group.generation()).setEndpoint(joining.endpoint())
            .addAllAggregators(sums).build()))
        .map(gathered -> new OnlyGeneration(place(group.rank(), job.job(), job.trainers(), who, gathered)));
  }

  /** Returns the endpoints of the aggregators that sum for all ranks, as rank 0 finds them. */
  private Future<Collection<String>> aggregators() {
    if (!job.aggregator() || group.rank() > 0 || job.trainers() == 1) {
      return Future.succeededFuture(List.of());
    }
    return node.directory().awaitAny(Directory.GRADIENT_AGGREGATOR, node.config().readyTimeout(), who)
        .map(found -> {
          Map<String, String> byHost = new TreeMap<>(); // the latest of each host: a dead one may still be listed
          Directory.latestFirst(found).forEach(of -> byHost.putIfAbsent(of.host(), of.endpoint()));
          return byHost.values();
        });
  }

  /**
   * Returns the membership of a rank.
   *
   * @param gathered by rank; the highest generation is the one that they form, and all ranks get the same list
   */
  static Membership place(int rank, String job, int trainers, String who, List<PeerEndpoint> gathered) {
    if (gathered.size() < trainers) {
      throw new PeerLost(who + ": only " + gathered.size() + " of " + trainers + " trainers are left to exchange gradients "
          + "with; start the job again");
    }
    long generation = gathered.stream().mapToLong(PeerEndpoint::getGeneration).max().orElseThrow();
    List<String> endpoints = gathered.stream().map(PeerEndpoint::getEndpoint).toList();
    checkReachable(who, endpoints);
    return new Membership(job, generation, rank, endpoints, List.copyOf(gathered.get(0).getAggregatorsList()));
  }

  /**
   * Checks that all can be reached. All ranks throw at once; otherwise some would wait for streams that cannot be
   * opened.
   */
  private static void checkReachable(String who, List<String> endpoints) {
    for (int other = 1; other < endpoints.size(); other++) {
      if (PublishedAddress.loopbackApart(endpoints.get(0), endpoints.get(other))) {
        throw new Conflict(who + ": trainer 0 publishes " + endpoints.get(0) + " to the others, and trainer " + other
            + " " + endpoints.get(other) + ": a trainer on loopback cannot be reached from another machine. Configure the "
            + "host that the trainer on loopback publishes (node.cluster.address, or node.host)");
      }
    }
  }

  @Override
  public Future<Void> leave() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  /** The seat in a generation without a successor: connections between members show which are gone. */
  private record OnlyGeneration(Membership membership) implements Seat {

    private static Future<String> never() {
      return Promise.<String>promise().future();
    }

    @Override
    public Future<String> ended() {
      return never();
    }

    @Override
    public Future<String> gone() {
      return never();
    }

    @Override
    public Future<String> newcomers() {
      return never();
    }

    @Override
    public Future<Membership> reform(Reform how) {
      return Future.failedFuture(new PeerLost(membership + " is over, and its trainers form no other one"));
    }

    @Override
    public Future<Void> leave(Leaving when) {
      return Future.succeededFuture();
    }
  }
}
