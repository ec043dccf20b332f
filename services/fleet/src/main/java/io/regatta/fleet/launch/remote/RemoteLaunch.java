package io.regatta.fleet.launch.remote;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.Call;
import io.regatta.fleet.launch.JobToken;
import io.regatta.fleet.launch.Launcher;
import io.regatta.fleet.launch.LauncherLink;
import io.regatta.fleet.launch.Launches;
import io.regatta.fleet.launch.RunIds;
import io.regatta.fleet.launch.Signals;
import io.regatta.fleet.launch.plan.LaunchMode;
import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.launch.plan.LaunchedGpus;
import io.regatta.fleet.launch.plan.LaunchedJob;
import io.regatta.fleet.launch.plan.Machines;
import io.regatta.fleet.launch.plan.ParameterServerPlan;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.WordList;
import io.regatta.node.settings.Settings;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A launch whose processes run on other machines, over ssh. Used by the main thread. Workspaces are copied, each
 * machine gets its number, and an ssh process here stands for each process of the job. Logs stay in the workspaces, and
 * are copied here.
 */
public final class RemoteLaunch {

  private final LaunchOptions options;
  private final RemoteOptions remote;
  private final LaunchedJob job;
  private final LaunchMode mode;
  private final PrintWriter out;
  private final List<RemoteHost> hosts;
  private final Ssh ssh;
  private final String runId = RunIds.ofLaunch(System.getenv());
  /** Token whose file is in each workspace, from before the start to the end. */
  private final JobToken token;
  /** Hosts whose workspace has the token's file, or may have it. */
  private final List<RemoteHost> withToken = new ArrayList<>();

  /**
   * Checks the options and reads the hosts.
   *
   * @param job what is known of the program
   * @throws InvalidInput for options that contradict each other, or a file of hosts that says nothing
   */
  public RemoteLaunch(LaunchOptions options, RemoteOptions remote, LaunchedJob job, PrintWriter out) {
    List<LaunchedRole> roles = LaunchedRole.parts();
    if (roles.stream().anyMatch(role -> !options.of(role).places().isEmpty()) || !options.ips().isEmpty()
        || !options.meeting().master().isEmpty()) {
      throw new InvalidInput("--hosts names the machines: leave out " + WordList.and(Stream.concat(roles.stream()
          .map(role -> role.places().name()), Stream.of("--ips", "--master")).toList()) + "; "
          + WordList.and(Stream.concat(roles.stream().map(role -> role.number().name()), Stream.of("--nproc_per_node"))
          .toList())
          + " are numbers on each of them");
    }
    if (!Settings.isFile(options.program()) || Path.of(options.program()).isAbsolute()) {
      throw new InvalidInput("program " + options.program() + ": with --hosts it is a job file (.yaml, .yml, .json) by its path in the "
          + "workspace; programs of its own lie in the workspace's lib");
    }
    this.options = options;
    this.remote = remote;
    this.job = job;
    this.out = out;
    token = JobToken.in(Path.of(""), out);
    mode = LaunchMode.onHosts(options, job); // before names of machines take the numbers' place
    hosts = RemoteHost.read(remote.hosts());
    ssh = new Ssh(remote.ssh());
  }

  /**
   * Copies the workspaces, runs the job to its end, and fetches the logs; returns the exit status, see {@link
   * Launches#run}.
   */
  public int run(boolean quiet) {
    LaunchPlan plan = LaunchPlan.of(mode, named(), job, new AllMachines(), gpus());
    Signals signals = Signals.caught();
    signals.to(ssh::stop);
    boolean started = false;
    boolean fetched = true;
    int status;
    try {
      hosts.forEach(this::prepare);
      Launches.announce(plan, options, job, quiet, out);
      Launcher launcher = new Launcher(plan, this::call, Path.of(options.logDir()), out, System.out, null);
      started = true;
      status = Launches.stay(launcher, signals, out);
    } catch (Cancelled stopped) {
      if (started) {
        throw stopped;
      }
      status = Launches.stopped(signals, "before anything was started", out);
    } finally {
      removeTokens(signals);
      if (started) {
        signals.to(ssh::stop);
        fetched = fetchAll();
      }
    }
    return fetched ? status : Launches.stopped(signals, "while logs were fetched: the rest of them stay where they are", out);
  }

  /** Removes the token's file from all workspaces that have it, over a new ssh: a signal may have stopped the other. */
  private void removeTokens(Signals signals) {
    Ssh removing = new Ssh(remote.ssh());
    signals.to(removing::stop);
    for (RemoteHost host : withToken) {
      try {
        removing.run(host, "cd " + Ssh.quoted(remote.workspaceOf(host)) + " && rm -f " + Ssh.quoted(tokenFile()), null,
            "the token of this job, which has ended, stays in " + tokenFile() + " of workspace "
            + remote.workspaceOf(host) + " of " + host.login());
      } catch (RegattaException e) {
        say("regatta: " + e.getMessage());
      }
    }
  }

  /** Fetches all logs that are available; returns false if a signal has ended it. */
  private boolean fetchAll() {
    try {
      hosts.forEach(this::fetch);
      return true;
    } catch (Cancelled stopped) {
      return false;
    }
  }

  /** Returns options that name all machines, as if the command were given on each of them. */
  private LaunchOptions named() {
    List<String> all = hosts.stream().map(RemoteHost::host).toList();
    if (mode.collective()) {
      return options.on(Map.of(), all);
    }
    Map<LaunchedRole, LaunchOptions.Asked> roles = new EnumMap<>(LaunchedRole.class);
    int next = options.startPort() == null ? ParameterServerPlan.FIRST_PORT : options.startPort();
    for (LaunchedRole role : LaunchedRole.parts()) {
      int stride = role == LaunchedRole.SERVER ? job.stride() : 1;
      int first = next;
      List<String> places = all.stream().flatMap(host -> IntStream.range(0, each(role)).mapToObj(i ->
          role == LaunchedRole.WORKER ? host : host + ":" + (first + i * stride))).toList();
      roles.put(role, LaunchOptions.Asked.at(places));
      next += each(role) * stride; // a trainer without a port is announced at one of these
    }
    return options.on(roles, List.of());
  }

  /** Returns the number of processes of a role on each host. */
  private int each(LaunchedRole role) {
    Integer number = options.of(role).number();
    return number == null ? role.isAuxiliary() ? 0 : 1 : number;
  }

  /** Returns the GPUs of each machine; its number of them cannot be seen. */
  private LaunchedGpus gpus() {
    return new LaunchedGpus(options.gpus(), List.of());
  }

  private void prepare(RemoteHost host) {
    String workspace = remote.workspaceOf(host);
    say("host " + host.number() + ", " + host.login() + ": " + (remote.dispatchPackage() == null ? "workspace " + workspace
        : remote.dispatchPackage() + " is copied to " + workspace));
    if (remote.dispatchPackage() != null) {
      ssh.run(host, "mkdir -p " + Ssh.quoted(workspace), null, "workspace " + workspace + " cannot be made on " + host.login());
      ssh.send(remote.dispatchPackage(), host, workspace);
    }
    StringBuilder nodes = new StringBuilder().append(host.number()).append('\n');
    hosts.forEach(each -> nodes.append(each.number()).append(' ').append(each.host()).append('\n'));
    ssh.run(host, "cd " + Ssh.quoted(workspace) + " && cat > nodefile", nodes.toString().getBytes(StandardCharsets.UTF_8),
        "nodefile cannot be written in workspace " + workspace + " of " + host.login());
    String secret = Ssh.quoted(tokenFile());
    withToken.add(host);
    ssh.run(host, "cd " + Ssh.quoted(workspace) + " && rm -f " + secret + " && umask 377 && cat > " + secret,
        token.content(),
        "the job's token cannot be written in workspace " + workspace + " of " + host.login());
  }

  private String tokenFile() {
    return token.file().getFileName().toString();
  }

  private Call call(LaunchPlan.Planned process) {
    int each = mode.collective() ? gpus().trainers(options) : each(process.role());
    RemoteHost host = hosts.get(process.local() / each);
    int number = process.local() % each;
    List<String> arguments = new ArrayList<>(List.of("run", options.program()));
    arguments.addAll(options.arguments());
    String log = process.role().remoteLog() + (number == 0 ? "" : "." + number);
    Map<String, String> environment = new HashMap<>(process.environment());
    environment.put(LauncherLink.VARIABLE, LauncherLink.REMOTE);
    return new Call(ssh.command(host, RemoteScript.of(remote.workspaceOf(host), log,
        RunIds.with(runId, JobToken.with(tokenFile(), environment)), remote.regatta(),
        arguments)), Map.of(), true);
  }

  private void fetch(RemoteHost host) {
    Path to = Path.of(options.logDir(), "nodes", host.number() + "-" + host.host());
    try {
      ssh.fetch(host, remote.workspaceOf(host) + "/log", to);
      say("logs of host " + host.number() + ", " + host.login() + ", are in " + to);
    } catch (Cancelled stopped) {
      throw stopped;
    } catch (RegattaException e) {
      say("regatta: " + e.getMessage());
    }
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }

  /** All machines of the hosts file, on which the processes themselves check their ports. */
  private static final class AllMachines implements Machines {
    @Override
    public boolean has(String place) {
      return true;
    }

    @Override
    public boolean holdsPorts() {
      return false;
    }

    @Override
    public int anyPort(String host, int count) {
      throw new IllegalStateException("a port of " + host + " cannot be chosen from here");
    }

    @Override
    public void exactPort(String host, int port, String what) {
      // the process says so if it is taken
    }

    @Override
    public boolean same(String place, String other) {
      return place.equals(other);
    }

    @Override
    public String elsewhere() {
      return "";
    }
  }
}
