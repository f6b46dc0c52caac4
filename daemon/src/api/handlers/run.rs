//! `skills/run`: runs a script of a skill, if the user's configuration allows it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use skills_discovery::discover::{Candidate, FileId};
use skills_engine::View;
use skills_engine::sessions::store::trust::Content;
use skills_protocol::error::{CANNOT_START, RpcError};
use skills_protocol::wire::{Contextual, RunParams, RunResult};
use skills_render::Invoker;
use skills_render::resources::is_script;

use crate::access::authorize;
use crate::access::authorize::{AuthorizationRequest, Recipient, Script};
use crate::access::child_process;
use crate::access::child_process::{InvalidArgument, Job, NOT_FOUND, Ran, RunSlot, take_slot};
use crate::access::confined_dir::ConfinedDir;
use crate::access::programs::{InterpreterError, SearchPath};
use crate::access::sealed_copy;
use crate::access::sealed_copy::{SealedCopy, Snapshot};
use crate::api::handlers::files::{directory_gone, nested_skills, refused, relative};
use crate::api::handlers::get::find;
use crate::api::parts::GuardedParts;
use crate::convert::from_wire::target;
use crate::convert::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

/// The system's `ENOEXEC`: a file without an interpreter line that is no program.
const NO_FORMAT: i32 = rustix::io::Errno::NOEXEC.raw_os_error();

/// Hint for arguments that cannot be passed to a program.
const IN_A_FILE: &str = "Write long or binary data to a file and name that file in `args`.";

pub(crate) async fn run(call: MethodCall<GuardedParts, RunParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let target = target(params.name.as_deref(), params.path.as_deref(), params.path_encoding)?;
    let relative = relative(&params.relative, params.path_encoding)?;
    // Checked before the user is asked.
    check_params(&params)?;
    let request = parts.resolver.resolve(&peer, context).await?;
    let view = &*request.view;
    let candidate = &view.resolution.candidates[find(view, &target)?];
    let authorization = AuthorizationRequest::new(&request, candidate, Invoker::Model, params.wait);
    // A script of a skill inside this one needs the rights of both.
    for owner in nested_skills(view, candidate, &relative).await? {
        let authorization = AuthorizationRequest { candidate: owner, ..authorization };
        authorize::read(&parts.access, authorization, Recipient::Other).await?;
    }
    let call = ScriptCall { parts: &parts, params: &params, relative: &relative, view, candidate };
    let (place, content, snapshot) = call.authorize(authorization).await?;
    let (first_line, copy) = match snapshot {
        Some(snapshot) => {
            let path = match snapshot.first_line(&relative) {
                Some(_) => relative.clone(),
                None => call.copied_path(&content).await?,
            };
            let line = first_line(&snapshot, &path, &params.relative)?;
            let copy = authorize::run::copy(&parts.access, snapshot, &candidate.name).await?;
            (line, Some((copy, path)))
        }
        // The user's own scripts run by their shebang line.
        None => (Vec::new(), None),
    };
    let (job, search_path) = call.job(content, first_line, copy.as_ref()).await?;
    let ran = call.run(job, place).await?;
    let mut health = view.health.clone();
    if ran.exit_code == Some(NOT_FOUND) {
        health.extend(search_path.health());
    }
    Answer::new(&RunResult {
        clock: view.clock.clone(),
        health: to_wire::health(&health),
        exit_code: ran.exit_code,
        stdout: ran.stdout,
        stderr: ran.stderr,
        truncated: ran.is_truncated,
    })
}

/// Environment variable with the skill's own directory, set when a copy of it runs.
pub(super) const ORIGINAL: &str = "SKILLSD_ORIGINAL_DIR";

/// Bytes of a script that are read for its first line.
const FIRST_LINE: u64 = 256;

/// A script of a skill that is to run.
struct ScriptCall<'a> {
    parts: &'a GuardedParts,
    params: &'a RunParams,
    relative: &'a Path,
    view: &'a View,
    candidate: &'a Candidate,
}

impl ScriptCall<'_> {
    /// Authorizes the script and waits for a slot. Returns the script as it is then, which must be
    /// what the user has approved, with the skill's files unless it is the user's own.
    async fn authorize(
        &self,
        authorization: AuthorizationRequest<'_>,
    ) -> Result<(RunSlot, Content, Option<Snapshot>), RpcError> {
        let Self { parts, params, view, candidate, .. } = *self;
        authorize::run::require_runnable(&parts.access, view, candidate)?;
        let (content, line, snapshot) = self.look().await?;
        let files = snapshot.map(|it| it.content().clone());
        let (relative, args) = (params.relative.clone(), params.args.clone());
        let spellings = spellings(&content.path, &line, params);
        let script = Script { relative, args, content, spellings, files };
        let permit = authorize::run::script(&parts.access, authorization, &script).await?;
        let place = take_slot().await.map_err(|error| failed(&params.relative, &error))?;
        let commands = script.spellings.clone();
        authorize::run::recheck(&parts.access, view, candidate, &permit, commands).await?;
        authorize::run::require_runnable(&parts.access, view, candidate)?;
        let (content, _, snapshot) = self.look().await?;
        let files = snapshot.as_ref().map(Snapshot::content);
        if content == script.content && files == script.files.as_ref() {
            return Ok((place, content, snapshot));
        }
        Err(RpcError::not_allowed(format!(
            "`{}` has changed since the user was asked about it",
            params.relative
        ))
        .with_hint("Retry to ask the user about its current content."))
    }

    /// Runs the script to its end.
    async fn run(&self, job: Job, place: RunSlot) -> Result<Ran, RpcError> {
        let (relative, timeout) = (&self.params.relative, job.timeout);
        let script = (job.name.is_none()).then(|| PathBuf::from(&job.program));
        self.parts.access.counters.count(|it| it.scripts_run += 1);
        let ran = child_process::run(job, place).await.map_err(|error| {
            if child_process::is_arg_list_too_long(&error) {
                let n_args = self.params.args.len();
                let message = format!("the {n_args} arguments in `args` are too long in total");
                return RpcError::invalid_params(message).with_hint(IN_A_FILE);
            }
            cannot_start(relative, &error, script.as_deref())
        })?;
        if ran.is_late {
            let seconds = timeout.as_secs_f64();
            let message = format!("`{relative}` took longer than {seconds} seconds");
            return Err(
                RpcError::timed_out(message).with_hint("Raise `timeoutMs`, up to `run.timeout`.")
            );
        }
        Ok(ran)
    }

    /// Reads the script and its first line, and the skill's files unless it is the user's own.
    async fn look(&self) -> Result<(Content, Vec<u8>, Option<Snapshot>), RpcError> {
        let candidate = self.candidate;
        let unit = authorize::run::unit(self.view, candidate);
        let (dir, known) = (candidate.dir().into_path_buf(), candidate.directory);
        let (relative, shown) = (self.relative.to_owned(), self.params.relative.clone());
        let name = candidate.name.clone();
        run_fallible_blocking(move || {
            let (content, line) = located((&dir, known), &relative, &shown)?;
            let take =
                |unit| Snapshot::take(unit).map_err(|error| sealed_copy::refused(&error, &name));
            Ok((content, line, unit.map(take).transpose()?))
        })
        .await
    }

    /// Returns the path of a script that is reached through a link to a directory, in a copy of the
    /// skill, which has no such links.
    async fn copied_path(&self, script: &Content) -> Result<PathBuf, RpcError> {
        let (dir, real) = (self.candidate.dir().into_path_buf(), script.path.clone());
        let relative = self.relative.to_owned();
        run_fallible_blocking(move || {
            let dir = fs::canonicalize(&dir).unwrap_or(dir);
            Ok(real.strip_prefix(&dir).map_or(relative, Path::to_owned))
        })
        .await
    }

    /// Returns the process to start, in the sealed copy if there is one, and its `PATH`.
    async fn job(
        &self,
        script: Content,
        first_line: Vec<u8>,
        copy: Option<&(SealedCopy, PathBuf)>,
    ) -> Result<(Job, SearchPath), RpcError> {
        let Self { parts, params, view, candidate, .. } = *self;
        let dir = candidate.dir().into_path_buf();
        let (path, run_dir) = match copy {
            Some((copy, place)) => (copy.skill().join(place), copy.skill().to_path_buf()),
            None => (script.path, dir.clone()),
        };
        let unchecked = authorize::run::unchecked(&parts.access, view, candidate);
        let (shown, cwd) = (params.relative.clone(), run_dir.clone());
        let found = run_fallible_blocking(move || {
            let unchecked = unchecked();
            let interpreter = unchecked.interpreter(&first_line, &cwd);
            let interpreter = interpreter.map_err(|error| no_interpreter(&error, &shown))?;
            Ok((interpreter, unchecked.search_path()))
        });
        let (interpreter, search_path) = found.await?;
        let args = params.args.iter().map(OsString::from);
        let (program, name, args) = match interpreter {
            Some(it) => {
                let before = it.argument.into_iter().chain([path.into_os_string()]);
                (it.program.into_os_string(), Some(it.name), before.chain(args).collect())
            }
            None => (path.into_os_string(), None, args.collect()),
        };
        let config = parts.resolver.settings.user();
        let allowed = Duration::from_secs(config.run_timeout);
        let timeout = params.timeout_ms.map_or(allowed, Duration::from_millis).min(allowed);
        let environment = [
            ("CLAUDE_SKILL_DIR", run_dir.clone().into_os_string()),
            ("SKILL_DIR", run_dir.clone().into_os_string()),
            (ORIGINAL, dir.into_os_string()),
            ("PATH", search_path.path.clone()),
        ];
        let job = Job {
            program,
            name,
            args,
            directory: run_dir,
            environment: environment.into(),
            timeout,
            most: config.run_output as usize,
        };
        Ok((job, search_path))
    }
}

/// Returns the commands by which a shell may start a script: its path as written, below the
/// directory and in full, and the last one behind its interpreter.
fn spellings(path: &Path, first_line: &[u8], params: &RunParams) -> Vec<String> {
    let line = String::from_utf8_lossy(first_line);
    let interpreter = line.strip_prefix("#!").map(str::trim).unwrap_or_default();
    let (shown, path) = (&params.relative, path.to_string_lossy());
    let programs = [shown.clone(), format!("./{shown}"), path.to_string()];
    let behind = [format!("{interpreter} {shown}"), format!("{interpreter} {path}")];
    let behind = behind.into_iter().filter(|_| !interpreter.is_empty());
    let with_args = |it: String| [&[it], &params.args[..]].concat().join(" ");
    programs.into_iter().chain(behind).map(with_args).collect()
}

fn first_line(snapshot: &Snapshot, relative: &Path, shown: &str) -> Result<Vec<u8>, RpcError> {
    snapshot.first_line(relative).map(<[u8]>::to_vec).ok_or_else(|| {
        RpcError::invalid_params(format!("`{shown}` is not a file of the skill"))
            .with_param("params.relative")
            .with_hint("Name it as `skills/resources` lists it.")
    })
}

const CARRIAGE_RETURN: &str = "its first line ends with a carriage return";

const UNIX_LINE_ENDS: &str =
    "Save the file with Unix line ends (LF), for example with `sed -i 's/\\r$//'`.";

fn no_interpreter(error: &InterpreterError, shown: &str) -> RpcError {
    match error {
        InterpreterError::Unchecked | InterpreterError::Expanded | InterpreterError::TooLong => {
            RpcError::not_allowed(format!("the first line of `{shown}` {error}"))
                .with_hint("Use a system program, for example `/usr/bin/env python3`.")
        }
        InterpreterError::CarriageReturn => {
            let message = format!("failed to run `{shown}`: {CARRIAGE_RETURN}");
            RpcError::new(CANNOT_START, message).with_hint(UNIX_LINE_ENDS)
        }
        InterpreterError::Io(error) => cannot_start(shown, error, None),
    }
}

fn failed(shown: &str, error: &io::Error) -> RpcError {
    RpcError::internal(format!("failed to run `{shown}`: {error}"))
}

/// Returns the error for a script that the system does not start. Reads the first line of `script`,
/// if the system itself was to find the interpreter.
fn cannot_start(shown: &str, error: &io::Error, script: Option<&Path>) -> RpcError {
    const INSTALL: &str = "Install the program, or name one that exists in the first line.";
    let mut line = Vec::new();
    // A pipe at this path must not block.
    let flags = OFlags::NONBLOCK.union(OFlags::CLOEXEC);
    let open = |it| rustix::fs::open(it, flags, Mode::empty()).map(fs::File::from);
    if let Some(file) = script.and_then(|it| open(it).ok())
        && file.take(FIRST_LINE).read_to_end(&mut line).is_ok()
    {
        line.truncate(line.iter().position(|it| *it == b'\n').unwrap_or(line.len()));
    }
    let named = line.strip_prefix(b"#!").map(|it| String::from_utf8_lossy(it.trim_ascii()));
    let (why, hint) = match error.kind() {
        _ if error.raw_os_error() == Some(NO_FORMAT) => (
            "it has no interpreter line".to_owned(),
            "Begin the file with a line such as `#!/bin/sh` or `#!/usr/bin/env python3`.",
        ),
        io::ErrorKind::NotFound if line.ends_with(b"\r") => {
            (CARRIAGE_RETURN.to_owned(), UNIX_LINE_ENDS)
        }
        io::ErrorKind::NotFound => match named {
            Some(named) => (format!("there is no interpreter `{named}`"), INSTALL),
            None => ("its interpreter does not exist".to_owned(), INSTALL),
        },
        io::ErrorKind::PermissionDenied => (
            "the system does not permit it".to_owned(),
            "Check that its interpreter is executable and its file system is not mounted `noexec`.",
        ),
        _ => return failed(shown, error),
    };
    RpcError::new(CANNOT_START, format!("failed to run `{shown}`: {why}")).with_hint(hint)
}

fn check_params(params: &RunParams) -> Result<(), RpcError> {
    if params.timeout_ms == Some(0) {
        return Err(RpcError::invalid_params("`timeoutMs` is 0")
            .with_param("params.timeoutMs")
            .with_hint("Send the limit in milliseconds, or leave it out to use `run.timeout`."));
    }
    let mut args = params.args.iter().enumerate();
    let unfit = args.find_map(|(nth, it)| Some((nth, InvalidArgument::of(it)?)));
    unfit.map_or(Ok(()), |(nth, unfit)| {
        let message = format!("argument {} of `args` {unfit}", nth + 1);
        Err(RpcError::invalid_params(message).with_hint(IN_A_FILE))
    })
}

/// Finds a script: an executable file in the skill's directory. Reads all of it for the approval,
/// and returns its first line too.
fn located(
    (dir, known): (&Path, Option<FileId>),
    relative: &Path,
    shown: &str,
) -> Result<(Content, Vec<u8>), RpcError> {
    let skill_dir = ConfinedDir::open_known(dir, known).map_err(|error| directory_gone(&error))?;
    let (_, is_executable) = skill_dir.located(relative).map_err(|error| refused(&error, shown))?;
    if !is_executable || !is_script(relative) {
        return Err(RpcError::invalid_params(format!("`{shown}` is not a script of the skill"))
            .with_param("params.relative")
            .with_hint("`skills/resources` with `only: \"scripts\"` lists the scripts; `chmod +x` makes a file one."));
    }
    let read = skill_dir.read(relative, 0, FIRST_LINE).map_err(|error| refused(&error, shown))?;
    let line = read.bytes.split(|it| *it == b'\n').next().unwrap_or_default().to_vec();
    Ok((skill_dir.content(relative).map_err(|error| refused(&error, shown))?, line))
}
