package io.regatta.node.cluster;

import com.hazelcast.logging.LogEvent;
import com.hazelcast.logging.LogListener;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reason for which a Hazelcast cluster refuses a member for good. Hazelcast's exception does not carry it: the
 * member that refuses sends a sentence, and the refused one logs it. This listener reads that sentence, whatever the
 * level of the log. Hazelcast's threads write, the joining thread reads.
 */
final class JoinRefusal implements LogListener {

  private static final Pattern PARTITIONS = Pattern.compile("Incompatible partition count! expected: (null|\\d+),");
  private static final Pattern JOINER = Pattern.compile("Incompatible joiners! expected: ([\\w-]*),");
  private static final Pattern CONFIGURATION =
      Pattern.compile("A Configuration mismatch was detected: (.*?) Node is going to shutdown now!", Pattern.DOTALL);
  private static final Pattern BEFORE_JOIN = Pattern.compile("Reason of failure for node join: (.*)", Pattern.DOTALL);
  private static final String OTHER_NAME = "the target cluster has a different cluster-name";

  private volatile Runnable onOtherName = () -> { };
  private volatile boolean otherName;
  private volatile String reason;

  @Override
  public void log(LogEvent event) {
    String text = String.valueOf(event.getLogRecord().getMessage());
    if (text.contains(OTHER_NAME) && !otherName) {
      otherName = true;
      onOtherName.run();
    }
    Matcher configuration = CONFIGURATION.matcher(text);
    Matcher beforeJoin = BEFORE_JOIN.matcher(text);
    if (configuration.find()) {
      reason = configuration.group(1).strip();
    } else if (beforeJoin.find()) {
      reason = beforeJoin.group(1).strip();
    }
  }

  /** Returns the settings with which the cluster admits a member, as far as it has said: the given ones if it has not. */
  AgreedSettings required(AgreedSettings refused) {
    String words = reason == null ? "" : reason;
    Matcher partitions = PARTITIONS.matcher(words);
    Matcher joiner = JOINER.matcher(words);
    return new AgreedSettings(
        !partitions.find() ? refused.partitions() : partitions.group(1).equals("null") ? null : partitions.group(1),
        joiner.find() ? joiner.group(1) : refused.joiner());
  }

  /**
   * Sets an action for the case that the cluster has another name. It runs once, on a thread of Hazelcast, which it
   * must not block.
   */
  void onOtherName(Runnable action) {
    onOtherName = action;
  }

  /** Returns true if the member that was asked belongs to a cluster of another name. */
  boolean isOtherName() {
    return otherName;
  }

  /**
   * Returns the error of a join that no repetition can mend.
   *
   * @param who the process that joins
   * @param seed the member that was asked; null: this node is a seed itself
   * @param connection the reason for which the seed's connection was refused; null: it was not
   */
  Optional<InvalidInput> error(String who, ClusterConfig cluster, HostPort seed, String connection) {
    String at = seed == null ? String.join(", ", cluster.seeds()) : seed.toString();
    if (seed != null && connection != null) {
      return Optional.of(new InvalidInput(who + " cannot join cluster " + cluster.name() + " through " + at + ": "
          + connection));
    }
    if (reason != null) {
      return Optional.of(new InvalidInput(who + " cannot join cluster " + cluster.name() + " through " + at
          + ": the cluster refuses it: " + reason + ". This process has Hazelcast " + HazelcastMember.version()
          + "; all members need the same major and minor version, and the same partition groups"));
    }
    if (otherName) {
      return Optional.of(new InvalidInput(who + " cannot join cluster " + cluster.name() + " through " + at
          + ": the cluster there has another name. Set node.cluster.name to its name (Hazelcast's default is dev), "
          + "or node.cluster.seeds to members of " + cluster.name()));
    }
    return Optional.empty();
  }

  /**
   * Throws the error of a join through a port where no Hazelcast member listens that could be joined.
   *
   * @param proves whether this process proves a token, and requires it from the others
   */
  static void check(SeedProtocol protocol, String who, ClusterConfig cluster, HostPort seed, boolean proves) {
    String cannot = who + " cannot join cluster " + cluster.name() + " through " + seed;
    switch (protocol) {
      case TLS -> throw new InvalidInput(cannot + ": the port speaks TLS, and this process has none for its "
          + "Hazelcast member. Give it the job's node.tls; or the plain Hazelcast port of another application's "
          + "cluster; or use no cluster (node.cluster.directory: fixed, with node.cluster.endpoints)");
      case OTHER -> throw new InvalidInput(cannot + ": what listens there is not a Hazelcast member. Give the Hazelcast "
          + "port of a seed in node.cluster.seeds (not its gRPC or admin port)");
      case HAZELCAST -> {
        if (proves) {
          throw new InvalidInput(cannot + ": this process has a token, and the member there asks for none. Give that "
              + "one the same token (node.token_file), or, if it belongs to another application, set "
              + "node.cluster.member_proof: false here");
        }
      }
      case PROVES -> {
        if (!proves) {
          throw new InvalidInput(cannot + ": the members there prove a token to each other, and this process "
              + "has none, or node.cluster.member_proof is false. Set node.token_file to the job's token");
        }
      }
      case SILENT -> { }
    }
  }
}
