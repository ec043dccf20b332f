package io.regatta.fleet.launch.remote;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The script for sh on a machine that runs one process of the job. Stateless. It starts the process in the workspace,
 * and copies its output to a file of the workspace's {@code log} and to the caller. It ends the process when standard
 * input ends, as it does when the caller has gone. If the output is not read any more, the file still gets all of it:
 * tee continues. The script's status is the process's.
 */
final class RemoteScript {

  /** Time for an orderly end, s; afterwards the process is killed. */
  private static final int GRACE_SECONDS = 6;

  private RemoteScript() {}

  /**
   * Returns the script of a process.
   *
   * @param log file in {@code log}
   * @param regatta command of the machine, which its sh splits into words; empty: the workspace's own, or else regatta
   *     from the PATH
   */
  static String of(String workspace, String log, Map<String, String> environment, String regatta, List<String> arguments) {
    String variables = environment.entrySet().stream().map(each -> Ssh.quoted(each.getKey() + "=" + each.getValue()))
        .collect(Collectors.joining(" "));
    String words = arguments.stream().map(Ssh::quoted).collect(Collectors.joining(" "));
    String pipe = "log/." + log + ".$$";
    return """
        cd %s || exit 2
        mkdir -p log && mkfifo %s || exit 2
        regatta=%s
        [ -n "$regatta" ] || if [ -x ./regatta ]; then regatta=./regatta; else regatta=regatta; fi
        if [ -d lib ]; then REGATTA_CLASSPATH="lib/*${REGATTA_CLASSPATH:+:$REGATTA_CLASSPATH}"; export REGATTA_CLASSPATH; fi
        exec 3<&0
        (trap '' PIPE; exec tee log/%s < %s) &
        t=$!
        env %s $regatta %s < /dev/null > %s 2>&1 &
        p=$!
        { cat <&3; kill -TERM $p; n=0
          while kill -0 $p && [ $n -lt %d ]; do sleep 1; n=$((n + 1)); done; kill -KILL $p; } > /dev/null 2>&1 &
        w=$!
        wait $p
        s=$?
        wait $t
        kill $w 2> /dev/null
        rm -f %s
        exit $s
        """.formatted(Ssh.quoted(workspace), pipe, Ssh.quoted(regatta), log, pipe, variables, words, pipe, GRACE_SECONDS, pipe);
  }
}
