package io.regatta.node.cluster;

/**
 * Settings in which Hazelcast requires all members of a cluster to agree. A member that differs is refused with a sentence
 * that names the cluster's value, so a cluster can be joined without knowing them. Immutable.
 *
 * @param partitions number of partitions; null: none is named, as in a stock configuration, which differs from naming
 *     its default
 * @param joiner kind of discovery that members say they use; ours connects to the seeds whatever it says here
 */
record AgreedSettings(String partitions, String joiner) {

  /** Settings of the clusters that Regatta's members found: nothing named, discovery over TCP. */
  static final AgreedSettings OWN = new AgreedSettings(null, "tcp-ip");
}
