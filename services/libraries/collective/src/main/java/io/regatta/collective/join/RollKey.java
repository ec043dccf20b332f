package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Seat;
import io.regatta.collective.store.Store;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.vertx.core.Future;
import io.vertx.core.json.DecodeException;
import java.util.List;
import java.util.Optional;

/** The key of a store that holds a group's {@link MembershipRecord}, changed by compare-and-set. Stateless. */
record RollKey(Clock clock, Store store, Joining joining) {

  static final String KEY = "group";

  /**
   * The result of one look at the key.
   *
   * @param held as the store has it; empty if nobody has been there
   */
  record Held(Optional<byte[]> held, MembershipRecord roll) {}

  Future<Held> look() {
    return store.get(KEY).map(held -> new Held(held, decode(held)));
  }

  private MembershipRecord decode(Optional<byte[]> held) {
    try {
      return held.map(MembershipRecord::decode).orElse(MembershipRecord.of(joining));
    } catch (DecodeException | ClassCastException | NullPointerException e) {
      throw new InvalidInput("key " + KEY + " of " + store + " holds no group; give group " + joining.group()
          + " a scope of its own", e);
    }
  }

  /** Writes a record unless another member has changed it since that look. Returns whether it was written. */
  Future<Boolean> change(Held seen, MembershipRecord roll) {
    return store.compareAndSet(KEY, seen.held, roll.encode());
  }

  /**
   * Takes a member out, also while others change the record.
   *
   * @param when the progress of the group's work
   */
  Future<Void> withdraw(String id, Seat.Leaving when) {
    return look().compose(seen -> {
      if (seen.roll.everybody().noneMatch(entry -> entry.id().equals(id))) {
        return Future.succeededFuture();
      }
      MembershipRecord left = seen.roll.without(List.of(id));
      MembershipRecord then = switch (when) {
        case BEFORE_THE_END -> left;
        case AT_THE_END -> left.end();
        case WITH_SUCCESS -> left.succeed(clock.epochMillis());
      };
      return change(seen, then).compose(done -> done ? Future.succeededFuture() : withdraw(id, when));
    });
  }
}
