package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.protocol.rendezvous.LeaseReply;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The work queues of one {@link Group}, such as the files of an epoch. Owned by the group, on its thread. Each item
 * waits, or has one holder, or is done. A holder's items that are not done wait again, in front, after it has left or
 * was lost. A finished queue is remembered by name only, so that a late caller gets that answer.
 */
final class WorkQueues {

  private static final class Queue {
    final List<String> items;
    final LinkedHashSet<String> waiting;
    final Map<String, GroupMember> leased = new LinkedHashMap<>();

    Queue(List<String> items) {
      this.items = List.copyOf(items);
      this.waiting = new LinkedHashSet<>(items);
    }

    boolean finished() {
      return waiting.isEmpty() && leased.isEmpty();
    }
  }

  private final String group;
  private final RendezvousConfig.Limits limits;
  private final Map<String, Queue> queues = new HashMap<>();
  private final Set<String> finished = new HashSet<>();

  WorkQueues(String group, RendezvousConfig.Limits limits) {
    this.group = group;
    this.limits = limits;
  }

  /**
   * Marks the holder's items as done and assigns it the next one. An item that it has without reporting it comes first,
   * since it has not got the answer. An answer without an item that is not finished means: others still work, and their
   * items may come back, so ask again later.
   */
  LeaseReply lease(GroupMember holder, String name, List<String> items, List<String> done, List<String> held) {
    if (finished.contains(name)) {
      return LeaseReply.newBuilder().setFinished(true).build();
    }
    Queue known = queues.get(name);
    Queue queue = known == null ? newQueue(name, items) : known;
    if (!queue.items.equals(items)) {
      throw new Conflict("rank " + holder.rank + " brings another list of items to queue " + name + " of group " + group
          + ": " + items.size() + " items where the first caller brought " + queue.items.size()
          + "; bring the same list in the same order on every rank");
    }
    for (String item : done) {
      checkDone(queue, name, holder, item);
    }
    for (String item : held) {
      checkHeld(queue, name, holder, item);
    }
    queues.put(name, queue);
    done.forEach(queue.leased::remove);
    if (queue.finished()) {
      queues.remove(name);
      finished.add(name);
      return LeaseReply.newBuilder().setFinished(true).build();
    }
    for (Map.Entry<String, GroupMember> lease : queue.leased.entrySet()) {
      if (lease.getValue() == holder && !held.contains(lease.getKey())) {
        return LeaseReply.newBuilder().setItem(lease.getKey()).build();
      }
    }
    if (queue.waiting.isEmpty()) {
      return LeaseReply.getDefaultInstance();
    }
    String next = queue.waiting.iterator().next();
    queue.waiting.remove(next);
    queue.leased.put(next, holder);
    return LeaseReply.newBuilder().setItem(next).build();
  }

  private Queue newQueue(String name, List<String> items) {
    if (queues.size() + finished.size() >= limits.queues()) {
      throw new Overloaded("group " + group + " has had " + limits.queues()
          + " work queues, the limit (rendezvous.limits.queues); raise it");
    }
    if (items.size() > limits.items()) {
      throw new InvalidInput("queue " + name + " of group " + group + " has " + items.size()
          + " items, more than rendezvous.limits.items " + limits.items());
    }
    if (new HashSet<>(items).size() < items.size() || items.contains("")) {
      throw new InvalidInput("queue " + name + " of group " + group + " names an item twice or an empty one");
    }
    return new Queue(items);
  }

  /**
   * Checks an item reported as done. One done before is accepted (the answer got lost); one that waits or is assigned
   * to another is not.
   */
  private void checkDone(Queue queue, String name, GroupMember holder, String item) {
    GroupMember owner = queue.leased.get(item);
    boolean doneBefore = owner == null && !queue.waiting.contains(item) && queue.items.contains(item);
    if (owner != holder && !doneBefore) {
      throw new InvalidInput("rank " + holder.rank + " reports item " + item + " of queue " + name + " of group "
          + group + " as done, which " + (owner == null ? "was not handed out" : "lies with rank " + owner.rank));
    }
  }

  private void checkHeld(Queue queue, String name, GroupMember holder, String item) {
    if (queue.leased.get(item) != holder) {
      throw new InvalidInput("rank " + holder.rank + " says that it holds item " + item + " of queue " + name + " of group "
          + group + ", which it was not handed out or has reported as done");
    }
  }

  /** Puts the holder's items in front of the waiting ones. */
  void giveBack(GroupMember holder) {
    for (Queue queue : queues.values()) {
      LinkedHashSet<String> again = new LinkedHashSet<>();
      queue.leased.forEach((item, owner) -> {
        if (owner == holder) {
          again.add(item);
        }
      });
      if (!again.isEmpty()) {
        queue.leased.keySet().removeAll(again);
        again.addAll(queue.waiting);
        queue.waiting.clear();
        queue.waiting.addAll(again);
      }
    }
  }
}
