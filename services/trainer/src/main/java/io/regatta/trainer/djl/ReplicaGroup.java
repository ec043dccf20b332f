package io.regatta.trainer.djl;

/** Where the model threads of one rank meet: gradients are merged here before one push per step. */
public final class ReplicaGroup {

  private final int size;

  public ReplicaGroup(int size) {
    this.size = size;
  }

  public int size() {
    return size;
  }
}
