package io.regatta.fleet.command.output;

import io.regatta.core.error.PeerText;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.parameterserver.JobStatus;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.TableCounts;
import io.regatta.protocol.parameterserver.TrainerStatus;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.Member;
import java.io.PrintWriter;
import java.util.Locale;

/** The lines of {@code regatta status}. */
public final class StatusPage {

  private StatusPage() {}

  /** Prints a line; names in it come from peers. */
  private static void line(PrintWriter out, String text) {
    out.println(PeerText.message(text));
  }

  /** Prints the shards of a server, with the jobs on them. */
  public static void server(StatusReply server, Directory.Instance at, long nowMillis, PrintWriter out) {
    line(out, "server " + server.getServerIndex() + place(at));
    for (ShardStatus shard : server.getShardsList()) {
      line(out, "  shard " + shard.getShard() + (shard.getJobsCount() == 0 ? ": no job" : ""));
      shard.getJobsList().forEach(job -> job(job, nowMillis, out));
      shard.getWaitsList().forEach(wait -> line(out, "    waiting: " + wait));
    }
  }

  /**
   * Prints the place of a service.
   *
   * @param numbered whether its index tells it from others of its kind
   */
  public static void service(Directory.Instance at, boolean numbered, PrintWriter out) {
    line(out, at.service().replace('-', ' ') + (numbered ? " " + at.index() : "") + place(at));
  }

  /** Returns the place of an instance; a fixed directory knows no process. */
  private static String place(Directory.Instance at) {
    String pid = at.attributes().get(Directory.PID);
    return " at " + at.endpoint() + (pid == null ? "" : ", pid " + pid);
  }

  private static void job(JobStatus job, long nowMillis, PrintWriter out) {
    line(out, String.format(Locale.ROOT, "    job %s, %s: %d updates, %d dense values%s, staleness at most %d, %.1f on "
        + "average, %d pushes%s%s",
        job.getJob(), job.getMode(), job.getVersion(), job.getDenseSize(), rows(job), job.getStalenessMax(),
        (double) job.getStalenessSum() / Math.max(1, job.getPushes()), job.getPushes(),
        counted(job.getSkippedPushes(), "skipped"), counted(job.getRepeatedPushes(), "repeated")
            + counted(job.getRefused(), "refused for their rows")));
    job.getTablesMap().entrySet().stream().sorted(java.util.Map.Entry.comparingByKey())
        .forEach(table -> life(table.getKey(), table.getValue(), out));
    for (TrainerStatus trainer : job.getTrainersList()) {
      line(out, String.format(Locale.ROOT, "      trainer %d %s, %s, %s", trainer.getRank(), trainer.getState(),
          trainer.getLastStep() < 0 ? "no step yet" : "last step " + trainer.getLastStep(),
          trainer.getLastSeenMs() <= 0 ? "never seen" : String.format(Locale.ROOT, "seen %.1f s ago",
              Math.max(0, nowMillis - trainer.getLastSeenMs()) / 1000.0)));
    }
  }

  /** Prints the counts of a table, unless its rows have only been created. */
  private static void life(String table, TableCounts c, PrintWriter out) {
    String text = counted(c.getRestored(), "restored") + counted(c.getAdmitted(), "admitted")
        + counted(c.getNotAdmittedPulls(), "pulled and not admitted")
        + counted(c.getDroppedGradients(), "gradients dropped") + counted(c.getShrinks(), "shrinks")
        + counted(c.getAged(), "rows aged by them") + counted(c.getShrunkByScore(), "removed by score")
        + counted(c.getShrunkUnseen(), "removed unseen") + counted(c.getExpired(), "expired")
        + counted(c.getEvicted(), "evicted") + counted(c.getRefused(), "requests refused");
    if (!text.isEmpty()) {
      line(out, "      table " + table + ", " + c.getBirths() + " rows born" + text);
    }
  }

  private static String rows(JobStatus job) {
    StringBuilder text = new StringBuilder();
    job.getRowsMap().entrySet().stream().sorted(java.util.Map.Entry.comparingByKey())
        .forEach(table -> text.append(", ").append(table.getValue()).append(" rows of ").append(table.getKey()));
    return text.toString();
  }

  private static String counted(long count, String what) {
    return count == 0 ? "" : ", " + count + " " + what;
  }

  /** Prints the groups at a rendezvous, with their members; of one job only, if it is not empty. */
  public static void rendezvous(GroupsReply reply, Directory.Instance at, String job, PrintWriter out) {
    line(out, "rendezvous" + place(at));
    for (GroupView group : reply.getGroupsList()) {
      if (!job.isEmpty() && !job.equals(group.getGroup())) {
        continue;
      }
      line(out, "group " + group.getGroup() + ", generation " + group.getGeneration() + ", world size "
          + group.getWorldSize());
      for (Member member : group.getMembersList()) {
        line(out, "  rank " + member.getRank() + " " + member.getState() + ", " + member.getMember()
            + (member.getEndpoint().isEmpty() ? "" : " at " + member.getEndpoint()));
      }
    }
    reply.getWaitsList().forEach(wait -> line(out, "waiting: " + wait));
  }
}
