# Keeps a PostgreSQL for as long as tests use it: DIR BINARIES USER_ID. Each test holds a shared lock on DIR.use; when nobody has held one
# for three seconds, the server is stopped and its folder removed. If this script is killed, the server ends with it.
dir=$1 bin=$2 uid=$3
exec 9>"$dir.use"
as=
if [ "$(id -u)" = 0 ]; then
    chown "$uid:$uid" "$dir"
    as="--reuid $uid --regid $uid --clear-groups"
fi
cd "$dir" || exit 1
setpriv $as "$bin/initdb" -D "$dir/data" -U postgres --no-sync --auth=trust --encoding=UTF8 --locale=C --wal-segsize=1 >"$dir.log" 2>&1 || exit 1
printf 'local all locked scram-sha-256\nlocal all all trust\n' >"$dir/data/pg_hba.conf"
setpriv $as --pdeathsig INT "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c max_connections=200 \
    -c shared_buffers=32MB >>"$dir.log" 2>&1 &
server=$!
until "$bin/pg_isready" -q -h "$dir" -U postgres; do
    kill -0 $server 2>/dev/null || exit 1
    sleep 0.05
done
: >"$dir/ready"
echo ready
exec >/dev/null
idle=0
while [ $idle -lt 3 ] && kill -0 $server 2>/dev/null; do
    sleep 1
    if flock -n -x 9; then
        idle=$((idle + 1))
        [ $idle -lt 3 ] && flock -u 9
    else
        idle=0
    fi
done
rm -f "$dir/ready"
kill -INT $server 2>/dev/null
wait $server 2>/dev/null
rm -rf "$dir" "$dir.log"
