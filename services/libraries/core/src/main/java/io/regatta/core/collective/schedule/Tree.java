package io.regatta.core.collective.schedule;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Broadcast and reduce along a tree whose root is any rank. Pure functions. The tree is binomial (log2 p steps, for
 * short vectors) or a chain (each rank sends once, for long ones). Vectors are sent block by block, so that a block is
 * forwarded while the next one arrives. A parent reduces its own elements with those of its children in the order of
 * their subtrees, nearest first.
 */
final class Tree {
  /** -1 at the root. */
  private final int parent;
  /** The largest subtree first. */
  private final List<Integer> children;
  private final Blocks blocks;

  private Tree(int parent, List<Integer> children, Blocks blocks) {
    this.parent = parent;
    this.children = children;
    this.blocks = blocks;
  }

  /** Returns a rank's place in a binomial tree. */
  static Tree binomial(int size, int ranks, int me, int root, int most) {
    int place = Math.floorMod(me - root, ranks);
    int limit = place == 0 ? ranks : Integer.lowestOneBit(place);
    List<Integer> children = new ArrayList<>();
    for (int bit = 1; bit < limit && place + bit < ranks; bit <<= 1) {
      children.add((place + bit + root) % ranks);
    }
    Collections.reverse(children);
    return new Tree(place == 0 ? -1 : ((place & place - 1) + root) % ranks, children, new Blocks(size, 1, most));
  }

  /** Returns a rank's place in a chain. */
  static Tree chain(int size, int ranks, int me, int root, int most) {
    int place = Math.floorMod(me - root, ranks);
    return new Tree(place == 0 ? -1 : Math.floorMod(me - 1, ranks),
        place == ranks - 1 ? List.of() : List.of((me + 1) % ranks), new Blocks(size, 1, most));
  }

  void broadcast(Schedule to) {
    for (int b = 0; b < blocks.first(1); b++) {
      if (parent >= 0) {
        blocks.copy(to, parent, b);
      }
      for (int child : children) {
        blocks.send(to, child, b);
      }
    }
  }

  void reduce(Schedule to) {
    for (int b = 0; b < blocks.first(1); b++) {
      for (int i = children.size() - 1; i >= 0; i--) {
        blocks.reduce(to, children.get(i), b, parent < 0 && i == 0);
      }
      if (parent >= 0) {
        blocks.send(to, parent, b);
      }
    }
  }
}
