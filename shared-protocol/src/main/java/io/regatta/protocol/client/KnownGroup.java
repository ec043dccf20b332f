package io.regatta.protocol.client;

import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import java.util.ArrayList;
import java.util.List;

/**
 * A group as one watcher knows it: the last whole view and the differences since. Taking a difference costs its
 * changes; only {@link #view} costs all members. Owned by its user, on one thread.
 */
public final class KnownGroup {
  /** The latest message. */
  private GroupView latest = GroupView.getDefaultInstance();
  /** Members by rank. */
  private final List<Member> members = new ArrayList<>();
  private List<String> waiting = List.of();

  /**
   * Takes a message of a watch, or the view in another answer. A difference may begin before the known view, since its
   * entries are the members' states, not events. An older difference changes nothing.
   *
   * @return false, and nothing is taken, if the difference begins after the known view: a message was missed
   */
  public boolean apply(GroupView message) {
    boolean whole = message.getSince() == 0;
    if (!whole && message.getSince() > latest.getNumber()) {
      return false;
    }
    if (!whole && message.getNumber() < latest.getNumber()) {
      return true;
    }
    if (whole) {
      members.clear();
    }
    while (members.size() > message.getWorldSize()) {
      members.remove(members.size() - 1);
    }
    for (Member member : message.getMembersList()) { // in rank order, and the new ranks of a group that has grown are all new
      if (member.getRank() < members.size()) {
        members.set(member.getRank(), member);
      } else {
        members.add(member);
      }
    }
    if (whole || !message.getSameWaiting()) {
      waiting = message.getWaitingList();
    }
    latest = message;
    return true;
  }

  /** Returns the number of the latest view that is known, 0 before the first. */
  public long number() {
    return latest.getNumber();
  }

  /** Returns the latest entries of the members, by rank. */
  public List<Member> members() {
    return members;
  }

  /** Returns the whole latest view. {@code last_step} and {@code examples} are as of each member's own last change. */
  public GroupView view() {
    return latest.toBuilder().setSince(0).setSameWaiting(false).clearMembers().addAllMembers(members).clearWaiting()
        .addAllWaiting(waiting).build();
  }
}
