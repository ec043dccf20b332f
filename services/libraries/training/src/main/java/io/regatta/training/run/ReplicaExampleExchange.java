package io.regatta.training.run;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.ExampleExchange;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.data.SlotBatch;
import io.regatta.training.replica.ReplicaContext;
import java.util.ArrayList;
import java.util.List;

/**
 * One replica's side of an exchange of examples: the replicas of a rank meet, and one exchanges for all. Used on the
 * model thread.
 */
final class ReplicaExampleExchange implements ExampleExchange {

  private static final String OPERATION = "exchange of examples";

  private final ReplicaWorker worker;
  private final ReplicaContext context;
  private final RankCollectives collectives;

  ReplicaExampleExchange(ReplicaWorker worker, ReplicaContext context, RankCollectives collectives) {
    this.worker = worker;
    this.context = context;
    this.collectives = collectives;
  }

  @Override
  public int worker() {
    return worker.shardIndex();
  }

  @Override
  public int workers() {
    return worker.shardCount();
  }

  @Override
  public List<List<SlotBatch>> exchange(Layout layout, List<List<SlotBatch>> outgoing) {
    List<List<Parcel>> incoming = context.group().collective(context.session(), worker.replica(), OPERATION, outgoing,
        replicas -> collectives.exchange(OPERATION, layout, byRank(replicas)));
    worker.resumed();
    List<List<SlotBatch>> byWorker = new ArrayList<>();
    for (List<Parcel> ofRank : incoming) {
      for (int from = 0; from < worker.replicas(); from++) {
        List<SlotBatch> parts = new ArrayList<>();
        for (Parcel parcel : ofRank) {
          if (parcel.to() == worker.replica() && parcel.from() == from) {
            parts.add(parcel.examples());
          }
        }
        byWorker.add(parts);
      }
    }
    return byWorker;
  }

  /** @param replicas the batches of each replica of this rank, by receiving worker */
  private List<List<Parcel>> byRank(List<List<List<SlotBatch>>> replicas) {
    int each = worker.replicas();
    if (replicas.size() < each) {
      throw new InvalidInput("trainer " + worker.rank() + ": " + (each - replicas.size()) + " of its " + each + " replicas have "
          + "ended; all must take part in an exchange of examples");
    }
    List<List<Parcel>> ranks = new ArrayList<>();
    for (int rank = 0; rank < worker.worldSize(); rank++) {
      List<Parcel> parcels = new ArrayList<>();
      for (int from = 0; from < each; from++) {
        for (int to = 0; to < each; to++) {
          for (SlotBatch part : replicas.get(from).get(rank * each + to)) {
            parcels.add(new Parcel(from, to, part));
          }
        }
      }
      ranks.add(parcels);
    }
    return ranks;
  }
}
