package io.regatta.core.memory;

/**
 * The budgets of the heap that a shard's data counts in.
 *
 * @param parameters dense vectors with their slots, and sparse rows
 * @param answers rows of pulls that are being answered
 */
public record ShardMemory(HeapBudget parameters, HeapBudget answers) {

  /** Returns the budgets of this process, which all its services share. */
  public static ShardMemory ofProcess() {
    return new ShardMemory(HeapBudget.PARAMETERS, HeapBudget.ANSWERS);
  }

  /** Returns budgets of the same sizes that are shared with nobody. */
  public static ShardMemory own() {
    return new ShardMemory(HeapBudget.parameters(), HeapBudget.answers());
  }

  /** Returns budgets that are shared with nobody, with {@code answerBytes} bytes for answers. */
  public static ShardMemory own(long answerBytes) {
    return new ShardMemory(HeapBudget.parameters(), new HeapBudget(answerBytes));
  }
}
