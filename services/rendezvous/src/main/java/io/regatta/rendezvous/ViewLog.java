package io.regatta.rendezvous;

import io.regatta.protocol.rendezvous.GroupView;
import java.util.Arrays;
import java.util.List;

/**
 * The numbered views of one {@link Group}: for each rank, the number of the view in which its entry last changed. From
 * it the changes since any earlier view follow, so that a watcher costs only changes, however slow it is. Numbers start
 * from the group's opening generation and grow over all lives of its name. Part of the group, on its thread.
 */
final class ViewLog {
  private final long opened;
  private long number;
  /** The holders of the latest view, by rank, and their states in it. */
  private GroupMember[] holders = {};
  private GroupMember.State[] states = {};
  /** The number of the view in which the rank's entry last changed. */
  private long[] changed = {};
  private List<String> waiting = List.of();
  private long waitingChanged;

  /** @param opened the group's opening generation */
  ViewLog(long opened) {
    this.opened = opened;
    this.number = opened;
    this.waitingChanged = opened;
  }

  /** Compares the group with its latest view. If they differ, the group has a new view, with the next number. */
  void note(List<GroupMember> now, List<String> newcomers) {
    long next = number + 1;
    boolean differs = now.size() != holders.length;
    if (differs) {
      holders = Arrays.copyOf(holders, now.size());
      states = Arrays.copyOf(states, now.size());
      changed = Arrays.copyOf(changed, now.size());
    }
    for (int rank = 0; rank < holders.length; rank++) {
      GroupMember holder = now.get(rank);
      if (holders[rank] != holder || states[rank] != holder.state) {
        holders[rank] = holder;
        states[rank] = holder.state;
        changed[rank] = next;
        differs = true;
      }
    }
    if (!waiting.equals(newcomers)) {
      waiting = newcomers;
      waitingChanged = next;
      differs = true;
    }
    number = differs ? next : number;
  }

  /**
   * Adds the changes of the latest view since an earlier one, or the whole view if that one is none of this group.
   *
   * @param known number of the earlier view; 0: none
   */
  void add(GroupView.Builder view, long known) {
    long since = known < opened || known > number ? 0 : known;
    view.setNumber(number).setSince(since);
    for (int rank = 0; rank < holders.length; rank++) {
      if (changed[rank] > since) {
        view.addMembers(holders[rank].toMember());
      }
    }
    if (waitingChanged > since) {
      view.addAllWaiting(waiting);
    } else {
      view.setSameWaiting(true);
    }
  }
}
